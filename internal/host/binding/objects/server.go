package objects

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

// maxRequest is how much JSON a request may have, in bytes: a thousand keys, all
// of them escaped, are less.
const maxRequest = 8 << 20

// ServeHTTP answers workerd's R2 binding. What reads comes as GET, with the
// request in a header; what writes as PUT, with the request before the body.
func (b *bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := b.serve(w, r); err != nil {
		_, _ = io.Copy(io.Discard, r.Body)
		fail(w, err)
	}
}

func (b *bucket) serve(w http.ResponseWriter, r *http.Request) error {
	q, size, err := readRequest(r)
	if err != nil {
		return err
	}
	ctx := r.Context()
	switch r.Method + " " + q.Method {
	case "GET head":
		return b.serveHead(ctx, w, q)
	case "GET get":
		return b.serveGet(ctx, w, q)
	case "GET list":
		return b.serveList(ctx, w, q)
	case "PUT put":
		o, err := b.put(ctx, q, r.Body, size, nil)
		return answerObject(w, o, err)
	case "PUT delete":
		return answerNothing(w, b.serveDelete(ctx, q))
	case "PUT createMultipartUpload":
		id, err := b.createUpload(ctx, q)
		return answer(w, map[string]string{"uploadId": id}, err)
	case "PUT uploadPart":
		etag, err := b.putPart(ctx, q, r.Body, size)
		return answer(w, map[string]string{"etag": etag}, err)
	case "PUT completeMultipartUpload":
		o, err := b.completeUpload(ctx, q)
		return answerObject(w, o, err)
	case "PUT abortMultipartUpload":
		return answerNothing(w, b.abortUpload(ctx, q))
	}
	return errInternal
}

// readRequest reads what is asked, and says how many bytes are left in the body.
func readRequest(r *http.Request) (q *request, left int64, err error) {
	text := []byte(r.Header.Get("Cf-R2-Request"))
	if r.Method != http.MethodGet {
		size, err := strconv.ParseInt(r.Header.Get("Cf-R2-Metadata-Size"), 10, 64)
		if left = r.ContentLength - size; err != nil || size < 0 || size > maxRequest || left < 0 {
			return nil, 0, errInvalidRequest
		}
		text = make([]byte, size)
		if _, err := io.ReadFull(r.Body, text); err != nil {
			return nil, 0, fmt.Errorf("reading a request: %w", err)
		}
	}
	q = new(request)
	if err := json.Unmarshal(text, q); err != nil {
		return nil, 0, errInvalidRequest
	}
	return q, left, nil
}

func (b *bucket) serveHead(ctx context.Context, w http.ResponseWriter, q *request) error {
	key, err := q.key()
	if err != nil {
		return err
	}
	o, err := b.head(ctx, key)
	if err == nil {
		o.span = &wireSpan{0, o.size}
	}
	return answerObject(w, o, err)
}

func (b *bucket) serveGet(ctx context.Context, w http.ResponseWriter, q *request) error {
	o, body, err := b.get(ctx, q)
	if err != nil {
		return err
	}
	defer body.Close()
	head, err := json.Marshal(o.wire())
	if err != nil {
		return err
	}
	h := w.Header()
	h["Content-Type"] = []string{"application/json"}
	h["Cf-R2-Metadata-Size"] = []string{strconv.Itoa(len(head))}
	h["Content-Length"] = []string{strconv.FormatInt(int64(len(head))+o.span.Length, 10)}
	w.WriteHeader(http.StatusOK)
	if _, err = w.Write(head); err == nil {
		_, _ = io.Copy(w, body) // one that ends early breaks the connection, and the worker sees that
	}
	return nil
}

func (b *bucket) serveList(ctx context.Context, w http.ResponseWriter, q *request) error {
	f, err := q.filter()
	if err != nil {
		return err
	}
	page, err := b.list(ctx, f)
	return answer(w, page.wire(q.Include), err)
}

func (b *bucket) serveDelete(ctx context.Context, q *request) error {
	keys := q.Objects
	if q.Object != nil {
		keys = []string{*q.Object}
	}
	if len(keys) > maxDeleted {
		return invalid("At most %d objects can be deleted at once.", maxDeleted)
	}
	for _, key := range keys {
		if err := checkKey(key); err != nil {
			return err
		}
	}
	return b.remove(ctx, keys)
}

func answerObject(w http.ResponseWriter, o *object, err error) error {
	if err != nil {
		return err
	}
	return answer(w, o.wire(), nil)
}

// answer writes v, unless there is an error.
func answer(w http.ResponseWriter, v any, err error) error {
	if err != nil {
		return err
	}
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encoding an answer: %w", err)
	}
	h := w.Header()
	h["Content-Type"] = []string{"application/json"}
	h["Cf-R2-Metadata-Size"] = []string{strconv.Itoa(len(body))}
	h["Content-Length"] = h["Cf-R2-Metadata-Size"]
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(body) // a lost connection is workerd's to report
	return nil
}

func answerNothing(w http.ResponseWriter, err error) error {
	if err == nil {
		w.WriteHeader(http.StatusOK)
	}
	return err
}
