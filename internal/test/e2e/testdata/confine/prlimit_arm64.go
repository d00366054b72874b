package main

const prlimit = 261
