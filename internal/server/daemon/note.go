package daemon

import (
	"context"
	"os"

	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/server/api/tokens"
	"github.com/svcctl/svcctl/internal/svc"
)

// announce writes the note for the CLI of the same user.
func (d *Daemon) announce(context.Context, Config) error {
	note := config.Note{PID: os.Getpid(), API: d.info.API, Gateway: d.info.Gateway, S3: d.info.S3, HTTPS: d.info.HTTPS, HTTP: d.info.HTTP}
	if d.cfg.AdminToken == "" {
		note.DeployToken, note.AdminToken = d.secrets.DeployToken, d.secrets.AdminToken
		d.info.Tokens = config.NotePath(d.cfg.DataDir) + " (readable by you only)"
	}
	if err := d.dirs.data.writeNote(note); err != nil {
		return err
	}
	d.stops.Push("note", func(context.Context) error { return d.dirs.data.removeNote() })
	return nil
}

// namedTokens returns the tokens of SVC_TOKENS_FILE; nil without it.
func (d *Daemon) namedTokens() (func() []svc.Token, error) {
	if d.cfg.TokensFile == "" {
		return nil, nil // no file, no tokens
	}
	if d.tokenFile == nil {
		f, err := tokens.Open(d.cfg.TokensFile, d.logger)
		if err != nil {
			return nil, err
		}
		d.tokenFile = f
	}
	return d.tokenFile.Tokens, nil
}

// tokensTrouble returns why SVC_TOKENS_FILE cannot be read; nil without that file.
func (d *Daemon) tokensTrouble() func() *svc.TokensTrouble {
	if d.tokenFile == nil {
		return nil
	}
	return d.tokenFile.Trouble
}

// tokens returns the operator's tokens, or else the generated ones [D6].
func (d *Daemon) tokens() (deployToken, adminToken svc.Secret) {
	if d.cfg.AdminToken != "" {
		return d.cfg.DeployToken, d.cfg.AdminToken
	}
	return svc.Secret(d.secrets.DeployToken), svc.Secret(d.secrets.AdminToken)
}

// hidden returns the secrets of the server that are known by now, by their names: its log does
// not show them.
func (d *Daemon) hidden() map[string]string {
	all := map[string]string{
		"SVC_ADMIN_TOKEN": d.cfg.AdminToken.Reveal(), "SVC_DEPLOY_TOKEN": d.cfg.DeployToken.Reveal(), "PLATFORM_TOKEN": d.cfg.LegacyToken.Reveal(),
		"SVC_RECOVERY_KEY": d.cfg.RecoveryKey.Reveal(), "admin_token": d.secrets.AdminToken, "deploy_token": d.secrets.DeployToken,
		"upload_key": d.secrets.UploadKey, "recovery_key": d.secrets.RecoveryKey,
	}
	if d.objects != nil {
		all["secret_key"] = d.objects.target.SecretKey.Reveal()
	}
	if d.cfg.SecretsKey != nil {
		for id, key := range d.cfg.SecretsKey.Keys() {
			all["SVC_SECRETS_KEY "+id] = key
		}
	}
	return all
}
