// The common part of the peers in Go. See test/interop/peer.hpp. A peer has lock, unlock and
// increment.
package main

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"strings"
)

func require(ok bool) {
	if !ok {
		panic("not so")
	}
}

func serve() {
	fmt.Println("ready")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		bytes, err := hex.DecodeString(words[1])
		require(err == nil)
		name := string(bytes)
		number := func(place int) int {
			value, err := strconv.Atoi(words[place])
			require(err == nil)
			return value
		}
		said := map[bool]string{true: "unlocked", false: "lost"}
		switch words[0] {
		case "lock":
			said = map[bool]string{true: "locked", false: "busy"}
			fmt.Println(said[lock(name, number(2), number(3))])
		case "unlock":
			fmt.Println(said[unlock(name)])
		case "count":
			for left := number(3); left > 0; left-- {
				require(lock(name, 10_000, 60_000))
				increment(words[2])
				require(unlock(name))
			}
			fmt.Println("counted")
		}
	}
}
