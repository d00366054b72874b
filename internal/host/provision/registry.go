package provision

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/lib/atomicfile"
	"github.com/svcctl/svcctl/internal/svc"
)

// recordFile is beside the binary: what was installed, and with which checksum.
const recordFile = "package.json"

// installed is the content of recordFile.
type installed struct {
	Package   string `json:"package"`
	Version   string `json:"version"`
	Integrity string `json:"integrity"`
}

// ofRegistry returns the checksum that the registry has for a package without a pinned
// one. It must be a sha512, and that of an earlier install if there was one.
func (in *installer) ofRegistry(ctx context.Context, temp, npm string, pkg Package) (string, error) {
	spec := pkg.Name + "@" + in.release.Version
	cmd := exec.CommandContext(ctx, npm, "view", spec, "dist.integrity", "--json", "--loglevel=error")
	cmd.Dir = temp
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.Output()
	if err != nil {
		return "", in.failed("npm does not tell the checksum of "+spec, err)
	}
	if err := json.Unmarshal(out, &pkg.Integrity); err != nil || !strings.HasPrefix(pkg.Integrity, "sha512-") {
		return "", in.failed(fmt.Sprintf("the registry has no sha512 for %s, but %q", spec, strings.TrimSpace(string(out))), err)
	}
	switch before, err := in.recorded(); {
	case err != nil:
		return "", in.failed("the record of an earlier install cannot be read", err)
	case before.Integrity != "" && before.Integrity != pkg.Integrity:
		return "", svc.Errorf(svc.Unavailable, svc.CodeWorkerdChecksumMismatch,
			"the package %s of the registry has changed: it is %s, and it was %s when it was installed before", spec, pkg.Integrity, before.Integrity).
			WithHint("a published package never changes: do not use it, unless you know why; then delete %s", filepath.Join(in.dir, recordFile))
	}
	in.progress(stageUnpinned(pkg))
	return pkg.Integrity, nil
}

// recorded reads the record of an earlier install; it is empty without one.
func (in *installer) recorded() (r installed, err error) {
	text, err := os.ReadFile(filepath.Join(in.dir, recordFile))
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	return r, err
}

func (in *installer) record(pkg Package) error {
	text, err := json.MarshalIndent(installed{pkg.Name, in.release.Version, pkg.Integrity}, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(filepath.Join(in.dir, recordFile), append(text, '\n'), 0o644)
}
