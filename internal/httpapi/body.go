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

// bodyTime is how long one may take.
const bodyTime = 30 * time.Second

// readBody checks a request's body and leaves it to be read again by the
// generated code, whose own decoding is more forgiving than the contract.
func (rl rule) readBody(w http.ResponseWriter, r *http.Request) error {
	if rl.body == nil {
		return nil
	}
	raw, err := readAll(w, r)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return svc.Errorf(svc.TooLarge, "body_too_large", "a body may have %d bytes", maxBody)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return svc.Errorf(svc.BadRequest, "body_incomplete", "the body did not come within %s", bodyTime).Because(err)
	case err != nil:
		return svc.Errorf(svc.BadRequest, "body_incomplete", "the body ended early").Because(err)
	}
	r.Body = io.NopCloser(bytes.NewReader(raw))
	if len(bytes.TrimSpace(raw)) == 0 {
		if rl.bodyOptional {
			r.Body = http.NoBody
			return nil
		}
		return svc.Errorf(svc.BadRequest, "body_required", "this needs a JSON object as body")
	}
	return rl.body(raw)
}

// readAll reads a body that may take no longer than bodyTime. The limit ends with
// the body: it is not one for the answer.
func readAll(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	conn := http.NewResponseController(w)
	if err := conn.SetReadDeadline(time.Now().Add(bodyTime)); err == nil {
		defer conn.SetReadDeadline(time.Time{}) //nolint:errcheck // it could be set, so it can be removed
	}
	return io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
}

// object checks that raw is one JSON object with no other fields than T's, each
// of the right type. Messages name fields and never repeat values.
func object[T any](raw []byte) error {
	fields, err := members(raw)
	if err != nil {
		return err
	}
	var unknown []svc.FieldError
	known := jsonNames(reflect.TypeFor[T]())
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(known, name) {
			unknown = append(unknown, svc.FieldError{Pointer: pointer(name), Code: "unknown_field", Detail: "there is no such field"})
		}
	}
	if len(unknown) > 0 {
		return &svc.Error{
			Kind: svc.BadRequest, Code: "unknown_field", Fields: unknown,
			Detail: "the body has fields that this operation does not know",
			Hint:   "it knows " + strings.Join(known, ", "),
		}
	}
	var v T
	var wrong *json.UnmarshalTypeError
	if err := json.Unmarshal(raw, &v); errors.As(err, &wrong) {
		return invalidType(pointer(strings.Split(wrong.Field, ".")...), "want "+article(wrong.Type.Kind()))
	} else if err != nil {
		return svc.Errorf(svc.BadRequest, "invalid_json", "the body does not fit this operation").Because(err)
	}
	return nil
}

// createVersionBody is object for create-version. A null in env would read as
// an empty string, so env's values are looked at one by one.
func createVersionBody(raw []byte) error {
	fields, err := members(raw)
	if err != nil {
		return err
	}
	var env map[string]json.RawMessage
	if json.Unmarshal(fields["env"], &env) == nil {
		for _, key := range slices.Sorted(maps.Keys(env)) {
			if env[key][0] != '"' {
				return invalidType(pointer("env", key), "want a string")
			}
		}
	}
	return object[api.CreateVersion](raw)
}

// members splits a JSON object.
func members(raw []byte) (map[string]json.RawMessage, error) {
	if !utf8.Valid(raw) {
		return nil, svc.Errorf(svc.BadRequest, "invalid_json", "the body is not UTF-8")
	}
	var fields map[string]json.RawMessage
	err := json.Unmarshal(raw, &fields)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return nil, svc.Errorf(svc.BadRequest, "invalid_json", "the body is not one JSON object: see byte %d", syntax.Offset)
	case err != nil, fields == nil: // another type, or null
		return nil, svc.Errorf(svc.BadRequest, "invalid_json", "the body must be a JSON object")
	}
	return fields, nil
}

func invalidType(at, detail string) error {
	return &svc.Error{
		Kind: svc.BadRequest, Code: "invalid_type", Detail: "a field of the body has the wrong type",
		Fields: []svc.FieldError{{Pointer: at, Code: "invalid_type", Detail: detail}},
	}
}

// article names a JSON type with its article.
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

// jsonNames lists the members of a generated type, sorted.
func jsonNames(t reflect.Type) []string {
	var names []string
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// pointer is a JSON pointer (RFC 6901).
func pointer(path ...string) string {
	var b strings.Builder
	for _, p := range path {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(p))
	}
	return b.String()
}
