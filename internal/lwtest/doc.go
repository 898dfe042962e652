// Package lwtest is a scripted API server for tests in which order matters. It
// stands behind cache.ListerWatcher, in memory, for one kind of object.
//
// # Construct
//
//	s := lwtest.New(podA, podB) // resourceVersions 1 and 2
//	r := reflector.New(s, &corev1.Pod{}, store, reflector.Options{})
//
// The zero fields of Server are a plain API server with lists and watches.
// Server.WatchList switches streamed lists on; while it is off,
// IsWatchListSemanticsUnSupported answers true and today's clients list.
//
// # Change the world
//
// Add, Update and Delete change the state, raise the one resourceVersion by one
// and reach every open watch. Advance raises it alone, as writes to other kinds
// do. Compact makes older versions unavailable (410), RestoreTo goes back in
// time as an etcd restored from a backup does, Bookmark tells watches where they
// are.
//
// # Break it
//
// FailLists and FailWatches answer the next requests with an error, ServeLists
// and ServeWatches with something prepared, HoldLists and HoldWatches make
// requests wait. CloseWatches ends the open watches, Send puts any event into
// them, SendError an Error event. A request is recorded when it arrives, then
// waits where it is held, then meets a prepared answer, then the real one.
//
// # What you owe it
//
// Inside a testing/synctest bubble create the server in the bubble. A watch has
// one goroutine that ends when the watch is stopped, its context ends or the
// server closes it. Objects go in and come out as copies. A script that makes no
// sense (an Update of something that isn't there) panics and says why.
//
// # What an API server does and this one doesn't
//
// Label and field selectors and namespaces are refused or ignored: selectors get
// a 400 so that no test passes by accident; one Server is one resource in all
// namespaces.
package lwtest
