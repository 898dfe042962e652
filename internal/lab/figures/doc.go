// Command figures draws the pictures of the walkthrough as SVG, from text:
//
//	go run ./internal/lab/figures                   write docs/figures/*.svg anew
//	go run ./internal/lab/figures -check            name the ones that are stale
//	go run ./internal/lab/figures -record [NAME…]   record docs/traces/NAME.txt anew, on a real API server
//
// Every docs/figures/NAME.txt becomes NAME.svg (English) and NAME.zh.svg
// (Chinese). The same text always makes the same bytes. The pictures carry their
// style with them, for light and for dark, and need nothing from outside.
//
// # Boxes and arrows
//
// One thing a line; lines that begin with # are comments. What people read comes
// after the first " : ", as "中文 | English" or once for both; \n breaks a line,
// and a box's lines after the first are small. All numbers are pixels from the top
// left.
//
//	size  920x450
//	title : 地图 | The map
//	desc  : 一个事件走过的路 | The way of one event
//	box   NAME X,Y WxH [STYLE…] : LABEL
//	arrow FROM TO [STYLE…] [via X,Y…] [at X,Y] : LABEL
//	text  X,Y [STYLE…] : TEXT
//	legend X,Y
//
// A box is "plain", or a "plank" (a layer), a "frame" around others with its label
// at the top, a "store" (data that is kept), or a "ghost" (gone, or not made).
// "ch1" to "ch6" and "full" give it that chapter's colour and, if it is a plank or
// a frame, its number; "lit" fills it. The ends of an arrow are a box and a side of
// it, n e s w, perhaps moved along the side: "queue.e", "queue.n-20". Arrows run
// straight or with right angles, through the points after via; an arrow may be
// "dashed", "both" (two heads), "plainline" (none), or of a chapter's colour. A label sits in the
// middle of the longest leg, or at the point after at. Text may be "start" (the
// default), "middle", "end", "small", "bold", "mono", "muted".
//
// map.txt also makes NN-map.svg for each chapter: what is that chapter's is lit,
// earlier chapters' are ours, later ones' still upstream's. legend says so.
//
// # Traces
//
//	trace 04-relist         draw docs/traces/04-relist.txt
//	lit   Reflector DeltaFIFO
//	skip  REGEXP            leave out the lines that match
//	until REGEXP            leave out what comes after the first line that matches
//	title : …
//	desc  : …
//
// Layers are columns and time runs down. One row is one state of one object (kind,
// key, resourceVersion) on its way; where it comes to a layer for a second time, a
// new row begins. Rows are in the order in which they began.
package main
