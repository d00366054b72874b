package httpapi

import (
	"errors"
	"fmt"
	"reflect"
)

// check reports each field that is not set and has no tag `optional`, in the order of Deps.
func (d Deps) check() error {
	var errs []error
	for field, value := range reflect.ValueOf(d).Fields() {
		if _, optional := field.Tag.Lookup("optional"); !optional && !isSet(value) {
			errs = append(errs, fmt.Errorf("httpapi: Deps.%s is not set", field.Name))
		}
	}
	return errors.Join(errs...)
}

// isSet reports whether a value is not nil, not empty and, for a number, positive.
func isSet(v reflect.Value) bool {
	switch {
	case v.CanInt():
		return v.Int() > 0
	case v.Kind() == reflect.Slice:
		return v.Len() > 0
	}
	return !v.IsZero()
}
