package client_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// filler makes arguments for any method of Client.
type filler struct {
	name     string
	options  client.Options
	names    []string          // the arguments of type string, in their order
	fields   map[string]string // texts of fields by their names; "" is the text of all others
	conforms bool              // the requests are as the OpenAPI document says
}

var fillers = []filler{
	{
		name: "all", options: client.Options{Actor: "robot", Force: true}, conforms: true,
		names: []string{"shop", "v-1", "third", "fourth"},
		fields: map[string]string{
			"": "text", "Level": "warn", "Status": "5xx", "Since": "24h", "Events": "off", "LateRequests": "wait",
			"ArtifactDigest": "sha256:" + strings.Repeat("0", 64), "ContentType": "application/octet-stream",
		},
	},
	{name: "little", names: []string{"shop", "v-1", "", ""}},
	{
		name: "odd", options: client.Options{Actor: "ci / 50%"},
		names:  []string{"a/b", "50% of..", "two words", "../ü?&=#+;:@$,~x"},
		fields: map[string]string{"": "a/b 50%..&=?#+;,ü"},
	},
}

// call calls a method. What it returns does not matter, only what it sends.
func (f filler) call(t *testing.T, method reflect.Value) {
	t.Helper()
	var args []reflect.Value
	names := f.names
	for in := range method.Type().Ins() {
		switch {
		case in == reflect.TypeFor[string]():
			args, names = append(args, reflect.ValueOf(names[0])), names[1:]
		case in == reflect.TypeFor[context.Context]():
			args = append(args, reflect.ValueOf(t.Context()))
		default:
			args = append(args, f.value(in, ""))
		}
	}
	for _, out := range method.Call(args) {
		if out.Kind() == reflect.Func { // an iterator, whose first item suffices
			yield := reflect.MakeFunc(out.Type().In(0), func([]reflect.Value) []reflect.Value { return []reflect.Value{reflect.ValueOf(false)} })
			out.Call([]reflect.Value{yield})
		}
	}
}

// always are values of types that every filler uses.
func always(t reflect.Type) any {
	switch t {
	case reflect.TypeFor[io.Reader](), reflect.TypeFor[io.ReadSeeker]():
		return strings.NewReader("some bytes")
	case reflect.TypeFor[api.Upload]():
		return api.Upload{Method: http.MethodPut, URL: "http://server/v1/uploads/t", AssetsURL: "http://server/v1/uploads/t/assets", Headers: map[string]string{"Content-Type": "application/octet-stream"}}
	case reflect.TypeFor[client.Asset]():
		return client.Asset{
			BundleFile: api.BundleFile{Path: "a.txt", SHA256: strings.Repeat("a", 64), SizeBytes: 1},
			Open:       func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("a")), nil },
		}
	}
	return nil
}

// full are values of types whose values cannot be made by their kind.
func full(t reflect.Type) any {
	switch t {
	case reflect.TypeFor[json.RawMessage]():
		return json.RawMessage(`{"n":1}`)
	case reflect.TypeFor[time.Duration]():
		return 30 * time.Second
	case reflect.TypeFor[api.Time]():
		return api.At(time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC))
	case reflect.TypeFor[api.AddDomainProof]():
		return api.AddDomainProofDNS
	case reflect.TypeFor[api.VersionStatus]():
		return api.VersionStatusReady
	case reflect.TypeFor[api.NewMessageContentType]():
		return api.NewMessageContentTypeText
	case reflect.TypeFor[api.SecretClass]():
		return api.SecretClassPreview
	case reflect.TypeFor[api.MessageState]():
		return api.MessageStateDelayed
	}
	return nil
}

// value is a value of a type, for the field with this name. Functions are nil.
func (f filler) value(t reflect.Type, field string) reflect.Value {
	if known := always(t); known != nil {
		return reflect.ValueOf(known)
	}
	if known := full(t); known != nil && f.fields != nil {
		return reflect.ValueOf(known)
	}
	v := reflect.New(t).Elem()
	switch {
	case t.Kind() == reflect.Struct:
		for inner, at := range v.Fields() {
			if inner.IsExported() {
				at.Set(f.value(inner.Type, inner.Name))
			}
		}
	case f.fields != nil || t == reflect.TypeFor[[]client.Asset]():
		f.fill(v, field)
	}
	return v
}

func (f filler) fill(v reflect.Value, field string) {
	switch v.Kind() { //nolint:exhaustive // no argument has another kind
	case reflect.String, reflect.Interface:
		text, ok := f.fields[field]
		if !ok {
			text = f.fields[""]
		}
		v.Set(reflect.ValueOf(text).Convert(v.Type()))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Float64:
		v.SetFloat(1.5)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		v.Elem().Set(f.value(v.Type().Elem(), field))
	case reflect.Slice:
		v.Set(reflect.Append(v, f.value(v.Type().Elem(), field)))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(f.value(v.Type().Key(), "key"), f.value(v.Type().Elem(), field))
	}
}
