package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/svcctl/svcctl/internal/lib/text"
	"github.com/svcctl/svcctl/pkg/api"
)

// shownRunes is how many characters of a value are shown.
const shownRunes = 60

// recordText is a record with its values, on one line.
func recordText(r api.DataExportRecord) string {
	place := r.Resource
	if r.Kind == api.DataExportRecordKindRow {
		place += " " + r.Table
	}
	parts := []string{signOf(r.Op), place, identityText(r)}
	for _, name := range columnsOf(r) {
		was, hasWas := r.Was[name]
		is, hasIs := r.Values[name]
		switch r.Op {
		case api.DataExportRecordOpInsert:
			parts = append(parts, name+"="+valueText(is, hasIs))
		case api.DataExportRecordOpDelete:
			parts = append(parts, name+"="+valueText(was, hasWas))
		case api.DataExportRecordOpUpdate:
			parts = append(parts, fmt.Sprintf("%s: %s → %s", name, valueText(was, hasWas), valueText(is, hasIs)))
		}
	}
	return text.Line(strings.Join(parts, "  "))
}

// identityText is what identifies a record.
func identityText(r api.DataExportRecord) string {
	if r.Kind != api.DataExportRecordKindRow {
		return r.Key
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(r.Row)) {
		parts = append(parts, name+"="+valueText(r.Row[name], true))
	}
	return strings.Join(parts, ",")
}

// columnsOf are the values that are shown: of a change those that differ, without the key.
func columnsOf(r api.DataExportRecord) (names []string) {
	all := map[string]bool{}
	for _, side := range []map[string]any{r.Was, r.Values} {
		for name := range side {
			all[name] = true
		}
	}
	for name := range all {
		if _, ok := r.Row[name]; ok {
			continue
		}
		if r.Op != api.DataExportRecordOpUpdate || !reflect.DeepEqual(r.Was[name], r.Values[name]) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// valueText is a value, or how long it is.
func valueText(v any, exists bool) string {
	switch v := v.(type) {
	case nil:
		if !exists {
			return "–"
		}
		return "NULL"
	case string:
		if n := utf8.RuneCountInString(v); n > shownRunes {
			return strconv.Quote(string([]rune(v)[:shownRunes])) + fmt.Sprintf("… (%d bytes)", len(v))
		}
		return strconv.Quote(v)
	case json.Number:
		return v.String()
	case map[string]any:
		if coded, ok := v["$base64"].(string); ok && len(v) == 1 {
			return fmt.Sprintf("(%s)", count(int64(len(strings.TrimRight(coded, "="))*3/4), "byte"))
		}
		if sum, ok := v["$sha256"].(string); ok {
			return fmt.Sprintf("(%v bytes, sha256 %.12s)", v["$bytes"], sum)
		}
	}
	document, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	if len(document) > 2*shownRunes {
		return strings.ToValidUTF8(string(document[:2*shownRunes]), "") + fmt.Sprintf("… (%d bytes)", len(document))
	}
	return string(document)
}
