package objects_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
)

// TestUploadContinues: an upload that is open in the parent continues in a child with the same id, with
// the parts that it has, whatever the parent does with it afterwards.
func TestUploadContinues(t *testing.T) {
	t.Parallel()
	for name, child := range map[string]func(testing.TB, string, string) *dataplane.Volumes{"release": bindingtest.Release, "fork": bindingtest.Fork} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			parent := openBucket(t, bindingtest.OpenVolumes(t, dir))
			id := field(t, must(parent.write(`{"version":1,"method":"createMultipartUpload","object":"k"}`, nil)), "uploadId")
			call := func(method, more string) string {
				return fmt.Sprintf(`{"version":1,"method":%q,"object":"k","uploadId":%q%s}`, method, id, more)
			}
			one, two := large(5<<20, 1), []byte("the end")
			first := field(t, must(parent.write(call("uploadPart", `,"partNumber":1`), one)), "etag")
			b := openBucket(t, child(t, dir, "v2"))
			must(parent.write(call("abortMultipartUpload", ""), nil))
			second := field(t, must(b.write(call("uploadPart", `,"partNumber":2`), two)), "etag")
			parts := fmt.Sprintf(`,"parts":[{"etag":%q,"part":1},{"etag":%q,"part":2}]`, first, second)
			if code, reply := b.write(call("completeMultipartUpload", parts), nil); code != http.StatusOK {
				t.Fatalf("complete: %d %s", code, reply)
			}
			b.wantBody("k", append(one, two...))
			if code, _, _ := parent.read(`{"version":1,"method":"head","object":"k"}`); code != 10007 {
				t.Errorf("the parent has the object: %d", code)
			}
		})
	}
}

// must is the JSON of an answer; it is no object if the request failed.
func must(code int, reply string) string {
	if code != http.StatusOK {
		return fmt.Sprintf("%d: %s", code, reply)
	}
	return reply
}

func field(t *testing.T, reply, name string) string {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal([]byte(reply), &fields); err != nil {
		t.Fatal(reply)
	}
	text, _ := fields[name].(string)
	return text
}
