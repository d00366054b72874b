package svc

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// The limits of labels.
const (
	MaxLabels     = 16  // of a version
	maxLabelValue = 255 // bytes
)

var labelKey = pattern(`^[A-Za-z0-9](?:[A-Za-z0-9._/-]{0,61}[A-Za-z0-9])?$`) //nolint:gochecknoglobals // a constant

// checkLabels returns one error for each invalid label.
func checkLabels(labels map[string]string) (fields []FieldError) {
	if len(labels) > MaxLabels {
		fields = append(fields, FieldError{"/labels", CodeInvalidLabel, fmt.Sprintf("want at most %d labels", MaxLabels)})
	}
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		pointer := "/labels/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
		if !labelKey().MatchString(key) {
			fields = append(fields, FieldError{pointer, CodeInvalidLabel, "want a name of at most 63 letters, digits, '.', '_', '/' and '-'"})
		}
		if value := labels[key]; len(value) > maxLabelValue || strings.ContainsFunc(value, unicode.IsControl) {
			fields = append(fields, FieldError{pointer, CodeInvalidLabel, fmt.Sprintf("want at most %d bytes without control characters", maxLabelValue)})
		}
	}
	return fields
}

// LabelFilter selects versions with a label, and with a value of it unless Value is nil.
type LabelFilter struct {
	Key   string
	Value *string
}

// ParseLabels reads "key=value,key": labels that a version must all have.
func ParseLabels(text string) (list []LabelFilter, err error) {
	for part := range strings.SplitSeq(text, ",") {
		if part == "" {
			continue
		}
		key, value, given := strings.Cut(part, "=")
		if !labelKey().MatchString(key) {
			return nil, Errorf(BadRequest, CodeInvalidParameter, "the parameter label must be names or NAME=VALUE, separated by commas")
		}
		f := LabelFilter{Key: key}
		if given {
			f.Value = &value
		}
		list = append(list, f)
	}
	return list, nil
}
