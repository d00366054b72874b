package objects_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/binding/objects"
)

// r2 is a bucket as workerd speaks to it.
type r2 struct {
	t testing.TB
	h http.Handler
	v volume.Volumes
}

func openBucket(t testing.TB, v volume.Volumes) r2 {
	t.Helper()
	in, err := objects.Kind{}.Open(t.Context(), bundle.Binding{Name: "B", Kind: "object_store", Resource: "bucket"}, v)
	if err != nil {
		t.Fatal(err)
	}
	return r2{t, in, v}
}

// read makes a request that reads: it gives the status or R2's code, the JSON
// and the body.
func (b r2) read(request string) (code int, reply, body string) {
	b.t.Helper()
	r := httptest.NewRequestWithContext(b.t.Context(), http.MethodGet, "/", nil)
	r.Header["Cf-R2-Request"] = []string{request}
	return b.answer(r)
}

// write makes a request that writes.
func (b r2) write(request string, body []byte) (code int, reply string) {
	b.t.Helper()
	r := httptest.NewRequestWithContext(b.t.Context(), http.MethodPut, "/", io.MultiReader(strings.NewReader(request), bytes.NewReader(body)))
	r.ContentLength = int64(len(request) + len(body))
	r.Header["Cf-R2-Metadata-Size"] = []string{strconv.Itoa(len(request))}
	code, reply, _ = b.answer(r)
	return code, reply
}

func (b r2) answer(r *http.Request) (code int, reply, body string) {
	b.t.Helper()
	w := httptest.NewRecorder()
	b.h.ServeHTTP(w, r)
	code, text := w.Code, w.Body.String()
	if e := w.Header()["Cf-R2-Error"]; len(e) == 1 {
		var failure struct {
			Code    int    `json:"v4code"`
			Message string `json:"message"`
		}
		if err := json.Unmarshal([]byte(e[0]), &failure); err != nil {
			b.t.Fatal(err)
		}
		return failure.Code, failure.Message, text
	}
	if size := w.Header()["Cf-R2-Metadata-Size"]; len(size) == 1 {
		n, err := strconv.Atoi(size[0])
		if err != nil {
			b.t.Fatal(err)
		}
		return code, text[:n], text[n:]
	}
	return code, "", text
}

func (b r2) put(key string, body []byte) {
	b.t.Helper()
	if code, reply := b.write(fmt.Sprintf(`{"version":1,"method":"put","object":%q}`, key), body); code != http.StatusOK {
		b.t.Fatalf("put %s: %d %s", key, code, reply)
	}
}

func (b r2) wantBody(key string, want []byte) {
	b.t.Helper()
	code, reply, body := b.read(fmt.Sprintf(`{"version":1,"method":"get","object":%q}`, key))
	if code != http.StatusOK || body != string(want) {
		b.t.Errorf("get %s: %d %.200s, a body of %d bytes instead of %d", key, code, reply, len(body), len(want))
	}
}

// table gives the rows of one column.
func (b r2) table(query string) (rows []string) {
	b.t.Helper()
	db, err := b.v.Database(b.t.Context(), volume.SharedDatabase)
	if err == nil {
		err = db.Read(b.t.Context(), func(c *raw.Conn) error {
			return c.Query(query, nil, func(s *raw.Stmt) error {
				rows = append(rows, s.Text(0))
				return nil
			})
		})
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return rows
}

func (b r2) wantCount(query string, want int) {
	b.t.Helper()
	if got := b.table(query); len(got) != want {
		b.t.Errorf("%s: %d rows, want %d: %v", query, len(got), want, got)
	}
}

const (
	liveBlobs = "SELECT key FROM blob WHERE dead = 0"
	deadBlobs = "SELECT key FROM blob WHERE dead = 1"
)

func large(n int, seed byte) []byte { return bytes.Repeat([]byte{seed, seed + 1, seed + 2}, n/3+1)[:n] }

// Small bodies are in rows and large ones are not; what is replaced or deleted
// drops its blobs in the same transaction.
func TestWhereBodiesAre(t *testing.T) {
	t.Parallel()
	bucket := new(memstore.Bucket)
	b := openBucket(t, bindingtest.OpenVolumesOn(t, t.TempDir(), bucket))
	b.put("small", large(64<<10, 1))
	b.put("empty", nil)
	if blobs := stored(t, bucket); len(blobs) != 0 {
		t.Errorf("small bodies are stored as %v", blobs)
	}
	b.put("a", large(64<<10+1, 2))
	b.put("b", large(1<<20, 3))
	b.wantCount(liveBlobs, 2)
	if blobs := stored(t, bucket); len(blobs) != 2 || blobs[0].Size != 64<<10+1 || blobs[1].Size != 1<<20 {
		t.Errorf("stored: %v", blobs)
	}
	b.wantBody("small", large(64<<10, 1))
	b.wantBody("empty", nil)
	b.wantBody("a", large(64<<10+1, 2))
	b.wantBody("b", large(1<<20, 3))
	b.put("a", []byte("small now"))
	b.put("small", large(80<<10, 4))
	b.wantBody("a", []byte("small now"))
	b.wantBody("small", large(80<<10, 4))
	b.wantCount(liveBlobs, 2)
	b.wantCount(deadBlobs, 1)
	if code, reply := b.write(`{"version":1,"method":"delete","objects":["a","b","small","empty","none"]}`, nil); code != http.StatusOK {
		t.Errorf("delete: %d %s", code, reply)
	}
	b.wantCount(liveBlobs, 0)
	b.wantCount(deadBlobs, 3)
	b.wantCount("SELECT key FROM object_entry", 0)
	b.wantCount("SELECT blob FROM object_blob", 0)
}

// stored are the blobs in the object store.
func stored(t testing.TB, bucket objstore.Bucket) []objstore.Info {
	t.Helper()
	infos, err := objstore.ListAll(t.Context(), bucket, "p/v1/blobs/")
	if err != nil {
		t.Fatal(err)
	}
	return infos
}

// What is refused stores nothing: neither a row nor a blob.
func TestRefusedStoresNothing(t *testing.T) {
	t.Parallel()
	bucket := new(memstore.Bucket)
	b := openBucket(t, bindingtest.OpenVolumesOn(t, t.TempDir(), bucket))
	body := large(100<<10, 1)
	for request, want := range map[string]int{
		`{"version":1,"method":"put","object":"k","md5":"AAAAAAAAAAAAAAAAAAAAAA=="}`:                         10037,
		`{"version":1,"method":"put","object":"k","sha512":"00"}`:                                            10037,
		`{"version":1,"method":"put","object":"k","sha1":"zz"}`:                                              10029,
		`{"version":1,"method":"put","object":"k","onlyIf":{"etagMatches":[{"type":"strong","value":"x"}]}}`: 10031,
		`{"version":1,"method":"put","object":"` + strings.Repeat("k", 1025) + `"}`:                          10020,
		`{"version":1,"method":"put","object":"k","storageClass":"Cold"}`:                                    10029,
		`{"version":1,"method":"put","object":"k","ssec":{"key":"00"}}`:                                      10029,
		`{"version":1,"method":"put"}`:                                                                       10029,
		`{"version":1,"method":"uploadPart","object":"k","uploadId":"none","partNumber":1}`:                  10024,
		`{"version":1,"method":"uploadPart","object":"k","uploadId":"none","partNumber":0}`:                  10029,
		`{"version":1,"method":"head","object":"k"}`:                                                         10001,
		`{"version":1,"method":"put","object":5}`:                                                            10029,
		`not JSON`: 10029,
	} {
		if code, reply := b.write(request, body); code != want {
			t.Errorf("%.80s: %d %s, want %d", request, code, reply, want)
		}
	}
	if blobs := stored(t, bucket); len(blobs) != 0 {
		t.Errorf("stored: %v", blobs)
	}
	b.wantCount("SELECT key FROM object_entry", 0)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPut, "/", strings.NewReader("{}"))
	if code, _, _ := b.answer(r); code != 10029 {
		t.Errorf("without the size of the request: %d", code)
	}
	r.Header["Cf-R2-Metadata-Size"] = []string{"9999"}
	if code, _, _ := b.answer(r); code != 10029 {
		t.Errorf("with a size beyond the body: %d", code)
	}
	const request = `{"version":1,"method":"put","object":"k"}`
	short := httptest.NewRequestWithContext(t.Context(), http.MethodPut, "/", strings.NewReader(request+"short"))
	short.Header["Cf-R2-Metadata-Size"], short.ContentLength = []string{strconv.Itoa(len(request))}, int64(len(request)+100<<10)
	if code, _, _ := b.answer(short); code != 10001 {
		t.Errorf("a body that ends early: %d", code)
	}
	b.wantCount("SELECT key FROM object_entry", 0)
}

// between runs a hook after a blob is stored and before its row is.
type between struct {
	volume.Volumes
	hook func() error
}

type betweenBlobs struct {
	volume.Blobs
	hook func() error
}

func (b between) Blobs() volume.Blobs { return betweenBlobs{b.Volumes.Blobs(), b.hook} }

func (b betweenBlobs) Put(ctx context.Context, body io.Reader, size int64) (string, error) {
	key, err := b.Blobs.Put(ctx, body, size)
	return key, errors.Join(err, b.hook())
}

// A condition that stops to hold while the body is stored stores no object, and
// drops the blob.
func TestConditionWhileStoring(t *testing.T) {
	t.Parallel()
	v := bindingtest.OpenVolumes(t, t.TempDir())
	other := openBucket(t, v)
	b := openBucket(t, between{v, func() error { other.put("k", []byte("first")); return nil }})
	const create = `{"version":1,"method":"put","object":"k","onlyIf":{"etagDoesNotMatch":[{"type":"wildcard"}]}}`
	if code, reply := b.write(create, large(100<<10, 1)); code != 10031 {
		t.Errorf("%d %s", code, reply)
	}
	b.wantBody("k", []byte("first"))
	b.wantCount(liveBlobs, 0)
	b.wantCount(deadBlobs, 1)
}

// A part of an upload that ended while it was stored is dropped.
func TestUploadEndsWhileStoring(t *testing.T) {
	t.Parallel()
	v := bindingtest.OpenVolumes(t, t.TempDir())
	other := openBucket(t, v)
	_, reply := other.write(`{"version":1,"method":"createMultipartUpload","object":"k"}`, nil)
	var created struct {
		ID string `json:"uploadId"`
	}
	if err := json.Unmarshal([]byte(reply), &created); err != nil {
		t.Fatal(err)
	}
	call := func(method, more string) string {
		return fmt.Sprintf(`{"version":1,"method":%q,"object":"k","uploadId":%q%s}`, method, created.ID, more)
	}
	b := openBucket(t, between{v, func() error {
		_, _ = other.write(call("abortMultipartUpload", ""), nil)
		return nil
	}})
	if code, reply := b.write(call("uploadPart", `,"partNumber":1`), []byte("part")); code != 10024 {
		t.Errorf("%d %s", code, reply)
	}
	b.wantCount(liveBlobs, 0)
	b.wantCount(deadBlobs, 1)
}

// A crash between blob and row leaves the blob, and no row.
func TestCrashBeforeTheRow(t *testing.T) {
	t.Parallel()
	bucket := new(memstore.Bucket)
	v := bindingtest.OpenVolumesOn(t, t.TempDir(), bucket)
	b := openBucket(t, between{v, func() error { return errors.New("killed") }})
	if code, _ := b.write(`{"version":1,"method":"put","object":"k"}`, large(100<<10, 1)); code != 10001 {
		t.Errorf("code %d", code)
	}
	if code, _, _ := b.read(`{"version":1,"method":"head","object":"k"}`); code != 10007 {
		t.Errorf("head: %d", code)
	}
	if blobs := stored(t, bucket); len(blobs) != 1 {
		t.Errorf("stored: %v", blobs)
	}
}

// Uploads that were not completed are deleted after a week, with their parts.
func TestOldUploads(t *testing.T) {
	t.Parallel()
	v := bindingtest.OpenVolumes(t, t.TempDir())
	b := openBucket(t, v)
	const create = `{"version":1,"method":"createMultipartUpload","object":"k"}`
	_, reply := b.write(create, nil)
	var created struct {
		ID string `json:"uploadId"`
	}
	if err := json.Unmarshal([]byte(reply), &created); err != nil {
		t.Fatal(err)
	}
	part := fmt.Sprintf(`{"version":1,"method":"uploadPart","object":"k","uploadId":%q,"partNumber":1}`, created.ID)
	if code, reply := b.write(part, []byte("part")); code != http.StatusOK {
		t.Fatal(reply)
	}
	b.write(create, nil)
	b.wantCount("SELECT id FROM object_upload", 2)
	db, err := v.Database(t.Context(), volume.SharedDatabase)
	if err == nil {
		err = db.Write(t.Context(), func(c *raw.Conn) error {
			return c.Exec("UPDATE object_upload SET created = ?1 WHERE id = ?2", time.Now().Add(-8*24*time.Hour).UnixMilli(), created.ID)
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	b.write(create, nil)
	b.wantCount("SELECT id FROM object_upload", 2)
	b.wantCount("SELECT blob FROM object_part", 0)
	b.wantCount(deadBlobs, 1)
	if code, _ := b.write(part, []byte("late")); code != 10024 {
		t.Errorf("a part after that: %d", code)
	}
}

// gone is a store that answers nothing.
type gone struct{ objstore.Bucket }

func (g gone) Get(context.Context, string, int64, int64) (io.ReadCloser, objstore.Info, error) {
	return nil, objstore.Info{}, fmt.Errorf("gone: %w", objstore.ErrNotExist)
}

// A body that cannot be read is an error before anything is answered.
func TestBodyIsGone(t *testing.T) {
	t.Parallel()
	bucket, dir := new(memstore.Bucket), t.TempDir()
	v := bindingtest.OpenVolumesOn(t, dir, bucket)
	openBucket(t, v).put("k", large(100<<10, 1))
	b := openBucket(t, swapped{v, gone{bucket}})
	if code, reply, _ := b.read(`{"version":1,"method":"get","object":"k"}`); code != 10001 || !strings.Contains(reply, "reading a body") {
		t.Errorf("%d %s", code, reply)
	}
	if code, _, _ := b.read(`{"version":1,"method":"head","object":"k"}`); code != http.StatusOK {
		t.Errorf("head: %d", code)
	}
}

// swapped reads blobs from somewhere else.
type swapped struct {
	*dataplane.Volumes
	from objstore.Bucket
}

func (s swapped) Blobs() volume.Blobs { return swappedBlobs{s.Volumes.Blobs(), s.from} }

type swappedBlobs struct {
	volume.Blobs
	from objstore.Bucket
}

func (s swappedBlobs) Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, error) {
	r, _, err := s.from.Get(ctx, key, off, n)
	if err != nil {
		return nil, fmt.Errorf("reading a body: %w", err)
	}
	return r, nil
}

// What R2 refuses, beyond the simulator: names that are empty, cursors that no list gave, and
// metadata of more than 8,192 bytes.
func TestRefusedByR2(t *testing.T) {
	t.Parallel()
	w := start(t, `
const tried = async (f) => { try { await f(); return "ok"; } catch (e) { return String(e); } };
export default { async fetch(request, { B }) {
  const meta = (n) => B.put("k", "x", { customMetadata: { k: "v".repeat(n - 1) } });
  return Response.json(await Promise.all([
    () => B.put("", "x"), () => B.get(""), () => B.head(""), () => B.delete(""), () => B.delete(["a", ""]), () => B.createMultipartUpload(""),
    () => B.list({ prefix: "" }), () => B.list({ cursor: "!!!" }), () => B.list({ cursor: "/w==" }), () => B.list({ cursor: btoa("k".repeat(1025)) }), () => B.list({ cursor: btoa("k") }),
    () => meta(8192), () => meta(8193),
  ].map(tried)));
} }`)
	var got []string
	if err := json.Unmarshal([]byte(w.Post(t, "/", "")), &got); err != nil {
		t.Fatal(err)
	}
	name := func(method string) string {
		return "Error: " + method + ": The specified object name is not valid. (10020)"
	}
	const cursor = "Error: list: The cursor is not valid. (10029)"
	want := []string{
		name("put"), name("get"), name("head"), name("delete"), name("delete"), name("createMultipartUpload"),
		"ok", cursor, cursor, cursor, "ok",
		"ok", "Error: put: Your metadata headers exceed the maximum allowed metadata size. (10012)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
