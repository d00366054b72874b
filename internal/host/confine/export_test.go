//go:build linux

package confine

// ScopesSignals reports whether Landlock of this kernel restricts signals.
func ScopesSignals() bool { return landlockVersion() >= 6 }
