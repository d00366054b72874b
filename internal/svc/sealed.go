package svc

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// SecretClass says which versions get the value of a secret.
type SecretClass string

// The classes of secrets.
const (
	SecretRelease SecretClass = "release" // all that are not of the class preview, and production
	SecretPreview SecretClass = "preview" // versions with a preview name, or with the git ref of a pull request
)

// SecretClasses returns all classes.
func SecretClasses() []SecretClass { return []SecretClass{SecretRelease, SecretPreview} }

// MaxSecrets is the number of secrets of a project, in both classes together.
const MaxSecrets = 128

// SecretName is the place of a secret. A name has a value for each class.
type SecretName struct {
	Project string
	Name    string
	Class   SecretClass
}

// SealedValue is a value that only the key KeyID opens. The zero value is none.
type SealedValue struct {
	KeyID string
	Bytes []byte
}

// SealedSecret is a secret as the registry has it.
type SealedSecret struct {
	SecretName

	Value     SealedValue
	Before    SealedValue // the value that Value replaced; zero for none
	UpdatedAt time.Time
	UpdatedBy string // name of the actor, or of its token
}

// SecretChange changes secrets of one class of a project.
type SecretChange struct {
	Class  SecretClass
	Put    map[string]string
	Delete []string
	By     string
}

// Validate returns one error for each field that is not valid, without values.
func (c SecretChange) Validate() error {
	fields := CheckSecretClass(c.Class)
	for name, value := range c.Put {
		if code, detail := checkEnvEntry(name, value); code != "" {
			fields = append(fields, FieldError{Pointer: "/secrets/" + escapePointer(name), Code: code, Detail: detail})
		}
	}
	slices.SortFunc(fields, func(a, b FieldError) int { return cmp.Compare(a.Pointer, b.Pointer) })
	return Invalid(fields)
}

// CheckSecretClass returns the error of a class that does not exist.
func CheckSecretClass(c SecretClass) []FieldError {
	if slices.Contains(SecretClasses(), c) {
		return nil
	}
	return []FieldError{{Pointer: "/class", Code: CodeSecretClass, Detail: fmt.Sprintf("%q is not a class of secrets: use release or preview", string(c))}}
}

// SecretWrite is what the registry stores of a change, in one transaction.
type SecretWrite struct {
	Project    string
	Production string // id of the production version when the change began; "" for none
	Put        []SealedSecret
	Delete     []SecretName
}

// SecretsChanged is what a change of secrets did.
type SecretsChanged struct {
	Secrets   []SealedSecret   // of the project after the change
	Restarted []string         // ids of the versions that were restarted, and serve
	Failed    []SecretNotTaken // versions that could not be restarted
}

// SecretNotTaken is a version that does not serve with the secrets of its project.
type SecretNotTaken struct {
	Version string
	Reason  string
}

// Resealed is what sealing all secrets with the current key did.
type Resealed struct {
	Key        string       // id of the key that seals now
	Resealed   int          // secrets that another key had sealed
	Unreadable []SecretName // secrets that no key opens
}

// SecretClass returns the class of a version that was not promoted.
func (p ForkPolicy) SecretClass(v Version) SecretClass {
	if v.PreviewName != "" || p.isPullRequest(v.GitRef) {
		return SecretPreview
	}
	return SecretRelease
}

// FillingSecrets returns the secrets whose names nothing else has: no variable of the bundle, no override
// and no binding. taken reports whether one has a name.
func FillingSecrets(secrets map[string]string, taken func(name string) bool) map[string]string {
	filling := map[string]string{}
	for name, value := range secrets {
		if !taken(name) {
			filling[name] = value
		}
	}
	return filling
}
