package informer

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"k8s.io/client-go/tools/cache"
)

// handlerName says in logs whose handler it is: its type, or for a bundle of
// functions the place where they were written. It stands for client-go's
// nameForHandler.
func handlerName(handler cache.ResourceEventHandler) string {
	switch h := handler.(type) {
	case cache.ResourceEventHandlerFuncs:
		return funcsName(h)
	case *cache.ResourceEventHandlerFuncs:
		return funcsName(*h)
	}
	t := reflect.TypeOf(handler)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Name() == "" {
		return fmt.Sprintf("%T", handler)
	}
	return t.PkgPath() + "." + t.Name()
}

func funcsName(f cache.ResourceEventHandlerFuncs) string {
	var names, places []string
	for _, fn := range []any{f.AddFunc, f.UpdateFunc, f.DeleteFunc} {
		pc := reflect.ValueOf(fn).Pointer()
		if pc == 0 {
			continue
		}
		name := runtime.FuncForPC(pc).Name()
		names = append(names, name)
		places = append(places, name[:strings.LastIndexByte(name, '.')])
	}
	switch places = slices.Compact(places); len(places) {
	case 0:
		return fmt.Sprintf("%T", f)
	case 1:
		return places[0]
	default:
		return strings.Join(names, "+")
	}
}
