// node-redlock with one server. See README.md in the folder above.
const readline = require('readline')
const ioredis = require('ioredis')
const Redlock = require('redlock')

const Redis = ioredis.Redis || ioredis
const client = new Redis(Number(process.argv[2]))
const lease = Number(process.argv[3]) || 30000
const locks = new Redlock([client], { retryCount: -1 })
let held = []

const name = (number) => `peers:${number}`
const step = (ms) => Math.round(100 * Math.log(Math.max(ms * 1000, 0.1)))
const sinceEpoch = () => Math.round((performance.timeOrigin + performance.now()) * 1000)
const times = (count, start) => Promise.all(Array.from({ length: count }, (_, i) => start(i)))

function count (steps, took) {
  const at = step(took)
  steps[at] = (steps[at] || 0) + 1
}

async function cycle (name, end, seen) {
  for (;;) {
    const asked = performance.now()
    if (asked >= end) return
    const lock = await locks.lock(name, lease)
    const got = performance.now()
    count(seen.waits, got - asked)
    await lock.unlock()
    count(seen.cycles, performance.now() - asked)
    if (got < end) ++seen.count
  }
}

async function hold (name) {
  const lock = await locks.lock(name, lease)
  const renewal = setInterval(() => lock.extend(lease).catch(() => {}), lease / 3)
  held.push({ lock, renewal })
}

async function drop ({ lock, renewal }) {
  clearInterval(renewal)
  await lock.unlock()
}

async function once (name) {
  const lock = await locks.lock(name, lease)
  await lock.unlock()
}

async function answer (verb, words) {
  if (verb === 'cycle') {
    const [keys, tasks, seconds] = words
    const end = performance.now() + seconds * 1000
    const seen = { count: 0, waits: {}, cycles: {} }
    await times(tasks, (i) => cycle(name(i % keys), end, seen))
    return seen
  }
  if (verb === 'drop') {
    const at = sinceEpoch()
    await Promise.all(held.map(drop))
    held = []
    return { at }
  }
  await times(words[0], verb === 'hold' ? (i) => hold(name(i)) : () => once(name(0)))
  return { at: sinceEpoch() }
}

async function main () {
  await client.ping()
  console.log(JSON.stringify({ key: name(0) }))
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const [verb, ...words] = line.split(' ')
    console.log(JSON.stringify(await answer(verb, words.map(Number))))
  }
  client.disconnect()
}

main()
