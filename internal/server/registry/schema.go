package registry

import (
	"io/fs"

	"github.com/svcctl/svcctl/internal/data/sqlite"
	"github.com/svcctl/svcctl/internal/svc"
)

// firstSchema is the schema of version 0.1.0, with which a new registry begins. The numbers below it
// belong to programs before that version.
const firstSchema = 20

// SchemaVersion returns the version of the schema that this program writes, and the newest
// that it opens.
func SchemaVersion() int {
	files, err := fs.Glob(migrations, "migration/*.sql")
	if err != nil {
		panic(err) // the pattern is constant
	}
	return firstSchema + len(files) - 1
}

// CheckFile refuses the registry at path if a program before version 0.1.0 wrote it: Unprocessable
// format_older. It changes nothing, and accepts a file that is missing.
func CheckFile(path string) error {
	n, err := sqlite.ReadNumbers(path)
	if err != nil || n.ApplicationID != applicationID || n.Version == 0 || n.Version >= firstSchema {
		return err
	}
	return older("the registry "+path, n.Version)
}

// CheckSchema refuses a copy of a registry that this program cannot open: Unprocessable format_older
// or format_newer.
func CheckSchema(version int) error {
	switch newest := SchemaVersion(); {
	case version < firstSchema:
		return older("the registry", version)
	case version > newest:
		return svc.Errorf(svc.Unprocessable, svc.CodeFormatNewer, "the registry has the schema version %d, this program knows %d", version, newest).
			WithHint("start the release that wrote it, or a later one")
	}
	return nil
}

func older(what string, version int) *svc.Error {
	return svc.Errorf(svc.Unprocessable, svc.CodeFormatOlder, "%s has the schema version %d of a program before version 0.1.0, this program knows %d and later ones", what, version, firstSchema).
		WithHint("start with an empty data directory and deploy again; the program that wrote the registry still serves it")
}
