package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// maxBody is the size of a JSON body [D10].
const maxBody = 1 << 20

// bodyTime is the time limit for reading a JSON body.
const bodyTime = 30 * time.Second

// readBody checks a request's body and restores it for the generated code, whose
// decoder accepts more than the contract.
func (rl rule) readBody(w http.ResponseWriter, r *http.Request) error {
	if rl.body == nil {
		return nil
	}
	size := maxBody * int64(max(rl.scale, 1))
	raw, err := readAll(w, r, size)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return svc.Errorf(svc.TooLarge, svc.CodeBodyTooLarge, "the body exceeds the limit of %d bytes", size)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return svc.Errorf(svc.BadRequest, svc.CodeBodyIncomplete, "the body did not arrive within %s", bodyTime).Because(err)
	case err != nil:
		return svc.Errorf(svc.BadRequest, svc.CodeBodyIncomplete, "the body ended early").Because(err)
	}
	r.Body = io.NopCloser(bytes.NewReader(raw))
	if len(bytes.TrimSpace(raw)) == 0 {
		if rl.bodyOptional {
			r.Body = http.NoBody
			return nil
		}
		return svc.Errorf(svc.BadRequest, svc.CodeBodyRequired, "the operation requires a JSON object as body")
	}
	return rl.body(raw)
}

// readAll reads a body of at most size bytes within bodyTime for each maxBody. The limits
// do not apply to the response.
func readAll(w http.ResponseWriter, r *http.Request, size int64) ([]byte, error) {
	conn := http.NewResponseController(w)
	if err := conn.SetReadDeadline(time.Now().Add(bodyTime * time.Duration(size/maxBody))); err == nil {
		defer conn.SetReadDeadline(time.Time{}) //nolint:errcheck // it could be set, so it can be removed
	}
	return io.ReadAll(http.MaxBytesReader(w, r.Body, size))
}

// object checks that raw is one JSON object with only the fields of T, each of the
// right type. Errors name fields and never contain values.
func object[T any](raw []byte) error {
	fields, err := members(raw)
	if err != nil {
		return err
	}
	var unknown []svc.FieldError
	known := jsonNames(reflect.TypeFor[T]())
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(known, name) {
			unknown = append(unknown, svc.FieldError{Pointer: pointer(name), Code: svc.CodeUnknownField, Detail: "unknown field"})
		}
	}
	if len(unknown) > 0 {
		return &svc.Error{
			Kind: svc.BadRequest, Code: svc.CodeUnknownField, Fields: unknown,
			Detail: "the body has unknown fields",
			Hint:   "use " + strings.Join(known, ", "),
		}
	}
	var v T
	var wrong *json.UnmarshalTypeError
	if err := json.Unmarshal(raw, &v); errors.As(err, &wrong) {
		return invalidType(pointer(strings.Split(wrong.Field, ".")...), "want "+article(wrong.Type.Kind()))
	} else if err != nil {
		return svc.Errorf(svc.BadRequest, svc.CodeInvalidJSON, "the body does not match the operation").Because(err)
	}
	return nil
}

// createVersionBody is object for create-version. It checks the values of env
// itself, because json decodes null as an empty string.
func createVersionBody(raw []byte) error {
	fields, err := members(raw)
	if err != nil {
		return err
	}
	for _, name := range []string{"env", "labels"} {
		if err := stringsOnly(name, fields[name]); err != nil {
			return err
		}
	}
	return object[api.CreateVersion](raw)
}

// setEnvBody is object for a change of the environment, which requires vars: an empty
// body must not delete every variable by accident.
func setEnvBody(raw []byte) error {
	fields, err := members(raw)
	if err != nil {
		return err
	}
	if err := object[api.SetEnv](raw); err != nil {
		return err
	}
	if vars := fields["vars"]; len(vars) == 0 || vars[0] != '{' {
		return invalidType(pointer("vars"), "want an object; {} deletes every override")
	}
	return stringsOnly("vars", fields["vars"])
}

// stringsOnly checks that the members of a field that is an object are strings.
func stringsOnly(field string, raw json.RawMessage) error {
	var values map[string]json.RawMessage
	if json.Unmarshal(raw, &values) != nil {
		return nil //nolint:nilerr // object reports it
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if values[key][0] != '"' {
			return invalidType(pointer(field, key), "want a string")
		}
	}
	return nil
}

// members splits a JSON object.
func members(raw []byte) (map[string]json.RawMessage, error) {
	if !utf8.Valid(raw) {
		return nil, svc.Errorf(svc.BadRequest, svc.CodeInvalidJSON, "the body is not UTF-8")
	}
	var fields map[string]json.RawMessage
	err := json.Unmarshal(raw, &fields)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return nil, svc.Errorf(svc.BadRequest, svc.CodeInvalidJSON, "the body is not one JSON object: syntax error at byte %d", syntax.Offset)
	case err != nil, fields == nil: // another type, or null
		return nil, svc.Errorf(svc.BadRequest, svc.CodeInvalidJSON, "the body must be a JSON object")
	}
	return fields, nil
}

func invalidType(at, detail string) error {
	return &svc.Error{
		Kind: svc.BadRequest, Code: svc.CodeInvalidType, Detail: "a field of the body has the wrong type",
		Fields: []svc.FieldError{{Pointer: at, Code: svc.CodeInvalidType, Detail: detail}},
	}
}

// article returns the name of a JSON type with its article.
func article(k reflect.Kind) string {
	switch k { //nolint:exhaustive // the kinds that bodies have
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Map, reflect.Struct:
		return "an object"
	}
	return "another type"
}

// jsonNames returns the sorted JSON field names of a generated type.
func jsonNames(t reflect.Type) []string {
	var names []string
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// pointer returns a JSON pointer (RFC 6901).
func pointer(path ...string) string {
	var b strings.Builder
	for _, p := range path {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(p))
	}
	return b.String()
}
