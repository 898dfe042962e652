package source

import "reflect"

// isNil also sees a nil pointer inside a non-nil interface value, which is what
// a caller's forgotten variable looks like from here.
func isNil(v any) bool {
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Chan, reflect.Func, reflect.Interface:
		return r.IsNil()
	default:
		return false
	}
}
