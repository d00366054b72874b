//go:build e2e

package e2e

import (
	"path/filepath"
	"testing"

	"github.com/svcctl/svcctl/pkg/api"
)

// asksRoom answers with the id of the object "a" of ROOMS, or the id in the path, and how many requests
// the object has had; or with the name of the error.
const asksRoom = `export default { async fetch(request, { ROOMS }) {
  const text = new URL(request.url).pathname.slice(1);
  try {
    const id = text ? ROOMS.idFromString(text) : ROOMS.idFromName("a");
    return new Response(id.toString() + " " + await ROOMS.get(id).count());
  } catch (e) { return new Response(e.name); }
} };`

const countingRoom = `import { DurableObject } from "cloudflare:workers";
export class Room extends DurableObject {
  count() { const n = (this.ctx.storage.kv.get("n") ?? 0) + 1; this.ctx.storage.kv.put("n", n); return n; }
}
`

// idOfBefore is the id of the object "a" of the class Room in a project without a namespace.
const idOfBefore = "27dcd956e4a4217db575d1329a19d264f354c7b94b04c561748c4374bcdf2543"

// TestObjectNamespaces: projects have different ids of the same class and name, and reject those of one
// another; a project from before there were namespaces has the ids that it had. A child, a release,
// a rollback and a wake keep ids and data, and a binding of another worker reaches the same object.
func TestObjectNamespaces(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	d.bin = breakable
	d.withoutNamespace("old")
	dirs := d.deployRooms()
	prod := func(project string) string { return d.version(project, "v1").ProdURL }

	one := d.counted(prod("one"), 1)
	old, two := d.counted(prod("old"), 1), d.counted(prod("two"), 1)
	if old != idOfBefore || one == old || two == old || one == two {
		t.Errorf("the ids %s of one, %s of two, %s of old, want %s", one, two, old, idOfBefore)
	}
	// front is bound to the objects of one
	for project, want := range map[string]string{"two": "TypeError", "old": "TypeError", "front": one + " 2"} {
		if got := d.get(prod(project) + "/" + one).Body; got != want {
			t.Errorf("%s reads the id of one as %q, want %q", project, got, want)
		}
	}
	if got := d.counted(prod("front"), 3); got != one {
		t.Errorf("the other worker makes the id %s, want %s", got, one)
	}

	d.counted(prod("old"), 2)
	d.counted(prod("old"), 3)
	for project, id := range map[string]string{"one": one, "old": old} {
		same := func(what, url string, n int) {
			t.Helper()
			if got := d.counted(url, n); got != id {
				t.Errorf("%s of %s has the id %s, want %s", what, project, got, id)
			}
		}
		check := d.deploy(filepath.Join(dirs, project), "--version", "check", "--parent", "v1")
		same("the child", check.PreviewURL, 4)
		if p := d.released(project, "check", api.ReleaseVersion{VersionID: "v2"}); p.Status != api.PromotionStatusDone {
			t.Fatalf("%+v", p)
		}
		same("the release", prod(project), 4)
		d.ok(d.home, "versions", "archive", project+"/check")
		d.ok(d.home, "versions", "wake", project+"/check")
		same("the child that was woken", check.PreviewURL, 5)
		d.ok(d.home, "rollback", "-p", project, "--restore-data", "--yes")
		same("the rollback", prod(project), 4)
	}
	if got := d.counted(prod("front"), 5); got != one {
		t.Errorf("after the rollback, the other worker makes the id %s, want %s", got, one)
	}
}
