// Package ui is what screens are made of: styles, texts, the table, the line editor,
// and the intents by which a screen says what it wants. Drawing is a pure function of
// its arguments, so that screens can be compared with golden files.
package ui
