package objects_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/binding/objects"
)

// Whatever a request: it is answered, with an error in the header that workerd reads or with
// JSON of the size in its header, and a list is JSON afterwards.
func FuzzRequest(f *testing.F) {
	for _, text := range []string{
		`{"method":"put","object":"k","customFields":[{"k":"a","v":"1"}],"httpFields":{"contentType":"a/b","cacheExpiry":"5"},"md5":"XUFAKrxLKna5cZ2REBfFkg=="}`,
		`{"method":"put","object":"k","onlyIf":{"etagMatches":[{"value":"a","type":"strong"}],"uploadedBefore":"1","secondsGranularity":true}}`,
		`{"method":"get","object":"k","range":{"offset":"2","length":"3"}}`, `{"method":"get","object":"k","rangeHeader":"bytes=-1,2"}`,
		`{"method":"head","object":""}`, `{"method":"list","limit":3,"prefix":"k","cursor":"aw==","delimiter":"/","startAfter":"a","include":[0,1]}`,
		`{"method":"list","cursor":"/w=="}`, `{"method":"delete","objects":["a",""]}`, `{"method":"createMultipartUpload","object":"k"}`,
		`{"method":"uploadPart","object":"k","uploadId":"x","partNumber":1}`, `{"method":"completeMultipartUpload","object":"k","uploadId":"x","parts":[{"etag":"e","part":1}]}`,
		`{"method":"abortMultipartUpload","object":"k","uploadId":"x"}`, `{"method":"put","object":"k","sha256":"zz","ssec":{"key":"1"}}`, `null`, `{`,
	} {
		f.Add(true, text, "body")
		f.Add(false, text, "")
	}
	in, err := objects.Kind{}.Open(f.Context(), bundle.Binding{Name: "B", Kind: "object_store", Resource: "b"}, bindingtest.OpenVolumes(f, f.TempDir()))
	if err != nil {
		f.Fatal(err)
	}
	send := func(t *testing.T, write bool, text, body string) *httptest.ResponseRecorder {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
		r.Header.Set("Cf-R2-Request", text)
		if write {
			r = httptest.NewRequestWithContext(t.Context(), http.MethodPut, "/", strings.NewReader(text+body))
			r.Header.Set("Cf-R2-Metadata-Size", strconv.Itoa(len(text)))
		}
		w := httptest.NewRecorder()
		in.ServeHTTP(w, r)
		return w
	}
	f.Fuzz(func(t *testing.T, write bool, text, body string) {
		if err := wellFormed(send(t, write, text, body)); err != nil {
			t.Errorf("%t %s: %v", write, text, err)
		}
		if w := send(t, false, `{"method":"list","include":[0,1]}`, ""); w.Code != http.StatusOK || wellFormed(w) != nil {
			t.Errorf("%t %s: a list after it: %d %s", write, text, w.Code, w.Body)
		}
	})
}

// wellFormed says what is wrong with an answer.
func wellFormed(w *httptest.ResponseRecorder) error {
	size := w.Header().Get("Cf-R2-Metadata-Size")
	switch {
	case w.Code >= http.StatusBadRequest && !json.Valid([]byte(w.Header().Get("Cf-R2-Error"))):
		return fmt.Errorf("%d with the error %q", w.Code, w.Header().Get("Cf-R2-Error"))
	case size == "":
		return nil
	}
	n, err := strconv.Atoi(size)
	if err != nil || n > w.Body.Len() || !json.Valid(w.Body.Bytes()[:n]) {
		return fmt.Errorf("%s bytes of JSON in %q", size, w.Body)
	}
	return nil
}
