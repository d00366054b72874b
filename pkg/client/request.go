package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
)

// ofVersion begins the paths of a version.
const ofVersion = "/projects/{project}/versions/{version}"

// request is one call of the API.
type request struct {
	method, path string    // the path after /v1, with escaped names
	params       any       // a struct of package api: fields with the tag form are query parameters, the others headers
	body         io.Reader // nil for none
	kind         string    // Content-Type of the body
	slow         bool      // ctx is the only time limit, and nothing is repeated
	edit         func(*http.Request)
	err          error // of encoding the body
}

func get(path string, names ...string) request { return at(http.MethodGet, path, names) }

func post(path string, names ...string) request { return at(http.MethodPost, path, names) }

func put(path string, names ...string) request { return at(http.MethodPut, path, names) }

func patch(path string, names ...string) request { return at(http.MethodPatch, path, names) }

func remove(path string, names ...string) request { return at(http.MethodDelete, path, names) }

// at is a request for a path of the OpenAPI document; names replace what it has in braces.
func at(method, path string, names []string) request {
	var filled strings.Builder
	for _, name := range names {
		before, rest, _ := strings.Cut(path, "{")
		_, path, _ = strings.Cut(rest, "}")
		filled.WriteString(before + segment(name))
	}
	return request{method: method, path: filled.String() + path}
}

// segment escapes a name as one part of a path. A part of dots only would be taken for a
// step in the tree of paths.
func segment(name string) string {
	if name == "." || name == ".." {
		return strings.ReplaceAll(name, ".", "%2E")
	}
	return url.PathEscape(name)
}

func (r request) with(params any) request {
	r.params = params
	return r
}

func (r request) json(body any) request {
	text, err := json.Marshal(body)
	r.err = err
	return r.sending(bytes.NewReader(text), "application/json")
}

func (r request) sending(body io.Reader, kind string) request {
	r.body, r.kind = body, kind
	return r
}

// untimed makes ctx the only time limit of a request.
func (r request) untimed() request {
	r.slow = true
	return r
}

// edited has edit change the request when it is complete.
func (r request) edited(edit func(*http.Request)) request {
	r.edit = edit
	return r
}

// build makes the request to a server.
func (r request) build(ctx context.Context, server string) (*http.Request, error) {
	if r.err != nil {
		return nil, r.err
	}
	req, err := http.NewRequestWithContext(ctx, r.method, server+"/v1"+r.path, r.body)
	if err != nil {
		return nil, err
	}
	if r.kind != "" {
		req.Header.Set("Content-Type", r.kind)
	}
	if r.params != nil {
		setParams(req, r.params)
	}
	return req, nil
}

// setParams sets query parameters and headers, whose names are in the tags that the
// generator writes. It leaves out nil pointers.
func setParams(req *http.Request, params any) {
	var query []string
	for field, value := range reflect.ValueOf(params).Fields() {
		if value.Kind() == reflect.Pointer {
			if value.IsNil() {
				continue
			}
			value = value.Elem()
		}
		text := fmt.Sprint(value)
		if name := tagged(field, "form"); name != "" {
			query = append(query, name+"="+url.QueryEscape(text))
		} else {
			req.Header.Set(tagged(field, "json"), text)
		}
	}
	req.URL.RawQuery = strings.Join(query, "&")
}

// tagged is the name in a tag of a field.
func tagged(f reflect.StructField, key string) string {
	name, _, _ := strings.Cut(f.Tag.Get(key), ",")
	return name
}

// forceParam is the parameter of all that writes data of a version.
type forceParam struct {
	Force *bool `form:"force"`
}
