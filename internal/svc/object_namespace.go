package svc

import "strings"

// ObjectNamespace keeps the ids of a version's Durable Objects apart from those of other projects: the
// key from which workerd makes the ids of a class, and the name of the directory of its objects, begin
// with it [D66]. It is a random text; "" in projects from before there were namespaces. No API
// returns it, because without it the ids of names cannot be guessed.
type ObjectNamespace string

// namespaceEnd is between the namespace and the class in a key. The key of a class never has it, so
// no two pairs of a namespace and a class have the same key.
const namespaceEnd = "~"

// Key returns the key of a class for workerd. class is the key that the class has in the manifest.
func (n ObjectNamespace) Key(class string) string {
	if n == "" {
		return class
	}
	return string(n) + namespaceEnd + class
}

// ObjectClass returns the class of a key, without the namespace, which no answer has.
func ObjectClass(key string) string { return key[strings.LastIndex(key, namespaceEnd)+1:] }
