package lwtest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// List is ListWithContext without a context.
func (s *Server) List(opts metav1.ListOptions) (runtime.Object, error) {
	return s.ListWithContext(context.Background(), opts)
}

// ListWithContext answers the state as an API server does: "" and "0" are the
// present, a version means not older than (exact with a limit, or when asked
// for), a limit gives pages in the order of the keys.
func (s *Server) ListWithContext(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
	s.record(List, opts)
	if err := s.wait(ctx, &s.lists.gate); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if a, ok := s.lists.next(); ok {
		if a.list == nil {
			return nil, a.err
		}
		return a.list.DeepCopyObject(), nil
	}
	if err := refuseSelectors(opts); err != nil {
		return nil, err
	}
	version, after, err := s.listAt(opts)
	if err != nil {
		return nil, err
	}
	return s.page(version, after, opts)
}

// listAt decides at which version, and behind which key, a list is answered.
func (s *Server) listAt(opts metav1.ListOptions) (version uint64, after string, err error) {
	if opts.Continue != "" {
		if opts.ResourceVersion != "" {
			return 0, "", apierrors.NewBadRequest("specifying resource version is not allowed when using continue")
		}
		v, key, ok := strings.Cut(opts.Continue, ":")
		version, err := strconv.ParseUint(v, 10, 64)
		if !ok || err != nil {
			return 0, "", apierrors.NewBadRequest("continue key is not valid: " + opts.Continue)
		}
		if version < s.compacted {
			return 0, "", apierrors.NewResourceExpired("The provided continue parameter is too old")
		}
		return version, key, nil
	}
	exact := opts.ResourceVersionMatch == metav1.ResourceVersionMatchExact
	switch opts.ResourceVersion {
	case "":
		if opts.ResourceVersionMatch != "" {
			return 0, "", apierrors.NewBadRequest("resourceVersionMatch is forbidden unless resourceVersion is provided")
		}
		return s.version, "", nil
	case "0":
		if exact {
			return 0, "", apierrors.NewBadRequest(`resourceVersionMatch "exact" is forbidden for resourceVersion "0"`)
		}
		return s.version, "", nil
	}
	version, err = parse(opts.ResourceVersion)
	if err != nil {
		return 0, "", err
	}
	if version > s.version {
		return 0, "", tooLarge(version, s.version)
	}
	if !exact && (opts.Limit == 0 || opts.ResourceVersionMatch == metav1.ResourceVersionMatchNotOlderThan) {
		return s.version, "", nil
	}
	if version < s.compacted {
		return 0, "", apierrors.NewResourceExpired(fmt.Sprintf("The provided resource version %d is too old", version))
	}
	return version, "", nil
}

func (s *Server) page(version uint64, after string, opts metav1.ListOptions) (runtime.Object, error) {
	var list runtime.Object = &metainternalversion.List{}
	if s.NewList != nil {
		list = s.NewList()
	}
	accessor, err := meta.ListAccessor(list)
	if err != nil {
		return nil, err
	}
	accessor.SetResourceVersion(strconv.FormatUint(version, 10))
	limit := int(opts.Limit)
	if opts.ResourceVersion == "0" && !s.NoWatchCache {
		limit = 0
	}
	state := s.state(version)
	var items []runtime.Object
	for _, key := range slices.Sorted(maps.Keys(state)) {
		if key <= after {
			continue
		}
		if limit > 0 && len(items) == limit {
			last := keyOf(items[limit-1].(Object))
			accessor.SetContinue(fmt.Sprintf("%d:%s", version, last))
			break
		}
		items = append(items, clone(state[key]))
	}
	return list, meta.SetList(list, items)
}

func refuseSelectors(opts metav1.ListOptions) error {
	if opts.LabelSelector != "" || opts.FieldSelector != "" {
		return apierrors.NewBadRequest("lwtest does not select: filter in the test or use a real API server")
	}
	return nil
}

func parse(resourceVersion string) (uint64, error) {
	version, err := strconv.ParseUint(resourceVersion, 10, 64)
	if err != nil {
		return 0, apierrors.NewBadRequest("Invalid value: " + resourceVersion + ": not a resource version")
	}
	return version, nil
}

func tooLarge(version, current uint64) error {
	err := apierrors.NewTimeoutError(fmt.Sprintf("Too large resource version: %d, current: %d", version, current), 1)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{
		Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version",
	}}
	return err
}
