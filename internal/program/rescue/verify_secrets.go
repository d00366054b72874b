package rescue

import (
	"context"

	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/data/sqlite"
	"github.com/svcctl/svcctl/internal/server/versions/secrets"
	"github.com/svcctl/svcctl/internal/svc"
)

// readSecrets reads the sealed secrets of the registry; none of one that a program without them wrote.
func (r *report) readSecrets(ctx context.Context, db *sqlite.DB) error {
	has := false
	err := db.Read().QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'secrets')").Scan(&has)
	if err != nil || !has {
		return err
	}
	rows, err := db.Read().QueryContext(ctx, "SELECT project_id, name, class, key_id, sealed FROM secrets")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var s svc.SealedSecret
		if err := rows.Scan(&s.Project, &s.Name, &s.Class, &s.Value.KeyID, &s.Value.Bytes); err != nil {
			return err
		}
		r.sealed = append(r.sealed, s)
	}
	return rows.Err()
}

// secrets checks that the keys of the settings open all secrets.
func (r *report) secrets(cfg *config.Daemon) {
	if cfg.SecretsKey == nil {
		return
	}
	for _, s := range r.sealed {
		if err := secrets.Readable(cfg.SecretsKey, s); err != nil {
			r.add("secret", s.Project+"/"+s.Name, "%s", svc.AsError(err).Detail)
		}
	}
}
