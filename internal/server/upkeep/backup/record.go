package backup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/svcctl/svcctl/internal/lib/atomicfile"
)

// Record says when and where the registry of a data directory was last backed up by hand.
type Record struct {
	At time.Time `json:"at"`
	To string    `json:"to"`
}

func recordPath(dataDir string) string { return filepath.Join(dataDir, "last-backup.json") }

// WriteRecord replaces the record in a data directory. The server may run as another user,
// so all users of the directory can read the file.
func WriteRecord(dataDir string, r Record) error {
	data, err := json.Marshal(r)
	if err == nil {
		err = atomicfile.WriteFile(recordPath(dataDir), append(data, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("record the backup: %w", err)
	}
	return nil
}

// ReadRecord returns the record in a data directory; without one, the zero Record.
func ReadRecord(dataDir string) (r Record, err error) {
	data, err := os.ReadFile(recordPath(dataDir))
	if errors.Is(err, fs.ErrNotExist) {
		return Record{}, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		return Record{}, fmt.Errorf("read the record of the last backup: %w", err)
	}
	return r, nil
}
