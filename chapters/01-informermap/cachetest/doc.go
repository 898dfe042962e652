// Package cachetest holds scenarios that every cache.Cache must pass, be it
// controller-runtime's, the one of this chapter or one with other layers below:
//
//	cachetest.Run(t, cache.New)       // controller-runtime's
//	cachetest.Run(t, informermap.New) // ours
//
// They talk to an APIServer in memory, which stands where the network begins:
// all of the machinery between the cache and the wire takes part.
package cachetest
