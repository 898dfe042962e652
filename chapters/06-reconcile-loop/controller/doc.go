// Package controller takes requests from a queue and calls a reconciler with them.
//
// New, NewTyped, NewUnmanaged and NewTypedUnmanaged take controller-runtime's
// options and return its interface, so that its manager runs ours and ours runs
// under its builder's sources. What differs:
//
//   - A second Start fails at once, also while the first still waits for its
//     sources, and also after the first has failed.
//   - Watch during the sync starts its source at once; upstream's waits.
//   - A stop is not held up by the context of the warm-up.
//   - A stop that takes long says every 10 s which requests are still in work.
//   - A failed Start shuts its queue down.
package controller
