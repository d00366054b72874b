package client

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"

	"github.com/svcctl/svcctl/pkg/api"
)

// Namespaces lists the key-value namespaces of a version.
//
// Codes: the data codes.
func (c *Client) Namespaces(ctx context.Context, project, version string) ([]api.Namespace, error) {
	list, err := ask[api.NamespaceList](ctx, c, get(ofVersion+"/kv", project, version))
	return list.Items, err
}

// Namespace returns the key-value namespace behind a binding.
//
// Codes: the data codes, binding_not_found.
func (c *Client) Namespace(ctx context.Context, project, version, binding string) (api.Namespace, error) {
	return ask[api.Namespace](ctx, c, get(ofVersion+"/kv/{namespace}", project, version, binding))
}

// KV names a key-value namespace of a version.
type KV struct {
	Project, Version string
	Binding          string
}

// Keys lists one page of a namespace's keys that begin with prefix.
//
// Codes: the data codes, binding_not_found, invalid_key (the prefix is too long).
func (c *Client) Keys(ctx context.Context, kv KV, prefix string, p Page) (api.KeyPage, error) {
	params := api.ListKeysParams{Prefix: or(prefix), Limit: or(p.Limit), Cursor: or(p.Cursor)}
	return ask[api.KeyPage](ctx, c, get(ofVersion+"/kv/{namespace}/keys", kv.Project, kv.Version, kv.Binding).with(params))
}

// AllKeys yields a namespace's keys like [Client.Keys], every page. It ends after
// an error.
//
// Codes: the data codes, binding_not_found, invalid_key.
func (c *Client) AllKeys(ctx context.Context, kv KV, prefix string) iter.Seq2[api.Key, error] {
	return all(func(cursor string) ([]api.Key, *string, error) {
		page, err := c.Keys(ctx, kv, prefix, Page{Limit: 1000, Cursor: cursor})
		return page.Items, page.NextCursor, err
	})
}

// Value is a value and what is stored with it.
type Value struct {
	Data       []byte
	Metadata   string // JSON; "" for none
	Expiration int64  // seconds since 1970; 0 for never
}

// GetValue returns the value of a key.
//
// Codes: the data codes, binding_not_found, key_not_found, invalid_key.
func (c *Client) GetValue(ctx context.Context, kv KV, key string) (Value, error) {
	if err := checkKey(key); err != nil {
		return Value{}, err
	}
	resp, err := c.do(ctx, get(ofVersion+"/kv/{namespace}/values/{key}", kv.Project, kv.Version, kv.Binding, key))
	data, err := read(resp, err)
	if err != nil {
		return Value{}, err
	}
	v := Value{Data: data, Metadata: resp.Header.Get("Svc-Kv-Metadata")}
	if text := resp.Header.Get("Svc-Kv-Expiration"); text != "" {
		if v.Expiration, err = strconv.ParseInt(text, 10, 64); err != nil {
			return Value{}, unexpected(err)
		}
	}
	return v, nil
}

// NewValue is what is stored with a value. The zero NewValue stores nothing
// beside it and never expires.
type NewValue struct {
	Metadata   string // JSON of at most 1024 bytes; "" for none
	Expiration int64  // seconds since 1970, at least 60 ahead; 0 for never
	TTL        int64  // seconds from now, at least 60; it wins over Expiration; 0 for none
}

// PutValue stores the value that data reads.
//
// Codes: the data codes, binding_not_found, invalid_key, invalid_metadata,
// value_too_large, body_incomplete, body_too_large.
func (c *Client) PutValue(ctx context.Context, kv KV, key string, data io.Reader, v NewValue) error {
	if err := checkKey(key); err != nil {
		return err
	}
	params := api.PutValueParams{SvcKvMetadata: or(v.Metadata), Expiration: or(v.Expiration), ExpirationTTL: or(v.TTL), Force: c.force.Force}
	_, err := read(c.do(ctx, put(ofVersion+"/kv/{namespace}/values/{key}", kv.Project, kv.Version, kv.Binding, key).with(params).sending(data, octets)))
	return err
}

// DeleteValue deletes a key. Deleting a key that does not exist is no error.
//
// Codes: the data codes, binding_not_found, invalid_key.
func (c *Client) DeleteValue(ctx context.Context, kv KV, key string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	_, err := read(c.do(ctx, remove(ofVersion+"/kv/{namespace}/values/{key}", kv.Project, kv.Version, kv.Binding, key).with(c.force)))
	return err
}

// codeInvalidKey is the code of the service for keys that it refuses.
const codeInvalidKey = "invalid_key"

// checkKey refuses the keys that would change the path of the request. No
// namespace and no bucket has them.
func checkKey(key string) error {
	if key == "" || key == "." || key == ".." {
		return &Error{Status: http.StatusBadRequest, Problem: api.Problem{
			Status: http.StatusBadRequest, Code: codeInvalidKey, Title: "Invalid key", Detail: fmt.Sprintf("%q cannot be a key", key),
		}}
	}
	return nil
}
