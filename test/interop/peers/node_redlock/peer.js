// A peer of the interoperation tests: node-redlock with one server. See test/interop/peer.hpp.
const readline = require('readline')
const ioredis = require('ioredis')
const Redlock = require('redlock')

const Redis = ioredis.Redis || ioredis
const client = new Redis({ path: process.argv[2] })
const pause = 20
const held = new Map()

// [lock]
async function lock(name, lease, wait) {
  const locks = new Redlock([client], {
    retryCount: Math.floor(wait / pause),
    retryDelay: pause,
    retryJitter: 0
  })
  try {
    held.set(name, await locks.lock(name, lease))
    return true
  } catch (failed) {
    if (failed.name !== 'LockError') throw failed
    return false
  }
}

async function unlock(name) {
  const lock = held.get(name)
  held.delete(name)
  try {
    await lock.unlock()
    return true
  } catch (failed) {
    if (failed.name !== 'LockError') throw failed
    return false
  }
}
// [/lock]

function require_(so) {
  if (!so) throw new Error('not so')
}

async function answer(line) {
  const [verb, hex, ...words] = line.split(' ')
  const name = Buffer.from(hex, 'hex').toString()
  if (verb === 'lock') return (await lock(name, +words[0], +words[1])) ? 'locked' : 'busy'
  if (verb === 'unlock') return (await unlock(name)) ? 'unlocked' : 'lost'
  for (let left = +words[1]; left > 0; --left) {
    require_(await lock(name, 10000, 60000))
    await client.set(words[0], Number(await client.get(words[0])) + 1)
    require_(await unlock(name))
  }
  return 'counted'
}

async function main() {
  console.log('ready')
  for await (const line of readline.createInterface({ input: process.stdin })) {
    console.log(await answer(line))
  }
  client.disconnect()
}

main()
