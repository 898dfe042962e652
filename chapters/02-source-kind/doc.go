// Package source is the layer between a cache and a controller's workqueue.
package source
