// Package parts fits the layers of chapters 3 to 5 together: it holds one constructor per part of an
// informer, ours and client-go's, in the types of chapter 3's Options.
//
// It exists because Go's func types are not covariant: deltafifo.New returns a *DeltaFIFO, and an
// informer wants a func that returns a cache.Queue. Each of these functions is that one closure.
package parts
