package secrets

import (
	"context"
	"errors"

	"github.com/svcctl/svcctl/internal/lib/keyring"
	"github.com/svcctl/svcctl/internal/svc"
)

// purpose gives each project a key of its own.
func purpose(n svc.SecretName) string { return "svcctl secret 1/" + n.Project }

// place binds a sealed value to its row. No part of it can hold the separator.
func place(n svc.SecretName) string { return n.Name + "\x00" + string(n.Class) }

func seal(ring *keyring.Ring, n svc.SecretName, value string) (svc.SealedValue, error) {
	sealed, err := ring.Seal(purpose(n), place(n), value)
	return svc.SealedValue{KeyID: ring.Current(), Bytes: sealed}, err
}

// Readable returns nil if a key opens the value of a secret, else Unavailable, secret_unreadable.
func Readable(ring *keyring.Ring, row svc.SealedSecret) error {
	_, err := open(ring, row.SecretName, row.Value)
	return err
}

func (s *Service) open(n svc.SecretName, v svc.SealedValue) (string, error) {
	return open(s.ring.Load(), n, v)
}

// open opens a value; ring may be nil. Its error names the secret and the key, and what to do.
func open(ring *keyring.Ring, n svc.SecretName, v svc.SealedValue) (string, error) {
	err := keyring.ErrNoKey
	if ring != nil {
		var value string
		if value, err = ring.Open(v.KeyID, purpose(n), place(n), v.Bytes); err == nil {
			return value, nil
		}
	}
	if errors.Is(err, keyring.ErrNoKey) {
		return "", svc.Errorf(svc.Unavailable, svc.CodeSecretUnreadable, "the secret %s of project %s is sealed with the key %s, which SVC_SECRETS_KEY does not have", n.Name, n.Project, v.KeyID).
			WithHint("add the key to SVC_SECRETS_KEY and send the server SIGHUP, or put the secret again")
	}
	return "", svc.Errorf(svc.Unavailable, svc.CodeSecretUnreadable, "the key %s does not open the secret %s of project %s", v.KeyID, n.Name, n.Project).
		WithHint("check that SVC_SECRETS_KEY has the right key under this id, or put the secret again")
}

// keys returns the keys. Errors: Conflict, secrets_key_missing.
func (s *Service) keys() (*keyring.Ring, error) {
	if ring := s.ring.Load(); ring != nil {
		return ring, nil
	}
	return nil, svc.Errorf(svc.Conflict, svc.CodeSecretsKeyMissing, "the server has no SVC_SECRETS_KEY, so it keeps no secrets").
		WithHint("run svcctl admin secrets key, set its output as SVC_SECRETS_KEY of the server, and keep it apart from backups; or pass secrets with a deploy: svcctl deploy --secrets-file FILE")
}

// Reseal seals all secrets that an earlier key sealed with the current key. It may be repeated. Errors:
// Conflict, secrets_key_missing.
func (s *Service) Reseal(ctx context.Context) (done svc.Resealed, err error) {
	ring, err := s.keys()
	if err != nil {
		return done, err
	}
	all, err := s.deps.Registry.AllSecrets(ctx)
	if err != nil {
		return done, err
	}
	done.Key = ring.Current()
	for _, row := range all {
		next, err := s.again(ring, row)
		if err != nil {
			done.Unreadable = append(done.Unreadable, row.SecretName)
			continue
		}
		if next.Value.KeyID == row.Value.KeyID && next.Before.KeyID == row.Before.KeyID {
			continue
		}
		replaced, err := s.deps.Registry.ResealSecret(ctx, row, next)
		if err != nil {
			return done, err
		}
		if replaced {
			done.Resealed++
		}
	}
	s.deps.Logger.InfoContext(ctx, "secrets sealed with the current key", "key", done.Key, "secrets", done.Resealed, "unreadable", len(done.Unreadable))
	return done, nil
}

// again returns row sealed with the current key. An earlier value that no key opens any more is dropped:
// the value itself is what versions need.
func (s *Service) again(ring *keyring.Ring, row svc.SealedSecret) (svc.SealedSecret, error) {
	value, err := s.open(row.SecretName, row.Value)
	if err != nil {
		return row, err
	}
	if row.Value.KeyID != ring.Current() {
		if row.Value, err = seal(ring, row.SecretName, value); err != nil {
			return row, err
		}
	}
	if row.Before.KeyID == "" || row.Before.KeyID == ring.Current() {
		return row, nil
	}
	before, err := s.open(row.SecretName, row.Before)
	if err != nil {
		row.Before = svc.SealedValue{}
		return row, nil //nolint:nilerr // see above
	}
	row.Before, err = seal(ring, row.SecretName, before)
	return row, err
}
