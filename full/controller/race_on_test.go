//go:build race

package controller

// raceDetector tells that the tests run with it.
const raceDetector = true
