package lifecycle

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/svcctl/svcctl/internal/svc"
)

// Directory is the Vault of data that lives on this machine's disk only, in
// {Root}/{project}/{version}: there is no other copy, so sealing keeps it.
type Directory struct{ Root string }

var _ Vault = Directory{}

// Seal keeps the directory.
func (Directory) Seal(context.Context, svc.Ref) error { return nil }

// Open finds the directory where it was.
func (Directory) Open(context.Context, svc.Ref) error { return nil }

// Destroy removes the directory.
func (d Directory) Destroy(_ context.Context, ref svc.Ref) error {
	if err := os.RemoveAll(filepath.Join(d.Root, ref.Project, ref.Version)); err != nil {
		return fmt.Errorf("removing the data of %s: %w", ref, err)
	}
	return nil
}
