package main

const prlimit = 302
