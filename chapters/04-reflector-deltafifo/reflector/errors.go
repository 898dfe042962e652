package reflector

import (
	"errors"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// isUnavailable reports whether a request failed because of the version it named.
func isUnavailable(err error) bool { return isExpired(err) || isTooLarge(err) }

// isExpired recognizes 410 under its two reasons.
func isExpired(err error) bool { return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) }

// isTooLarge recognizes a version from the server's future: as a cause (since
// 1.18.6), as a cause's message (since 1.17) and as the message (before).
func isTooLarge(err error) bool {
	if apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) {
		return true
	}
	var status apierrors.APIStatus
	if !apierrors.IsTimeout(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	const message = "Too large resource version"
	for _, cause := range status.Status().Details.Causes {
		if cause.Message == message {
			return true
		}
	}
	return strings.Contains(status.Status().Message, message)
}

// isBusy reports whether the server could not answer at all. Then nothing is
// wrong with the version, and a list would only add to its load.
func isBusy(err error) bool {
	return utilnet.IsConnectionRefused(err) || apierrors.IsTooManyRequests(err)
}
