// kafkajs: a producer, and members of a group.
// `node resuming_kafkajs.js PACKAGE JSON`: servers, topic, group, count, login. Prints what each of two consumers has read.
"use strict";

const { Kafka, Partitioners, logLevel } = require(process.argv[2]);
const { servers, topic, group, count, login } = JSON.parse(process.argv[3]);
const PATIENCE = 60000;
const sasl = login ? { ...login, mechanism: login.mechanism.toLowerCase() } : undefined;
const kafka = new Kafka({ brokers: servers.split(","), sasl, logLevel: logLevel.WARN });

function fail(error) {
  console.error(error);
  process.exit(1);
}

async function write(numbers) {
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  await producer.connect();
  await producer.send({ topic, acks: -1, messages: numbers.map((number) => ({ key: `${number}`, value: `${number}` })) });
  await producer.disconnect();
}

async function read(wanted) {
  const member = kafka.consumer({ groupId: group });
  await member.connect();
  await member.subscribe({ topics: [topic], fromBeginning: true });
  const found = [];
  const next = new Map();
  await new Promise((resolve, reject) => {
    member.on(member.events.CRASH, ({ payload }) => reject(payload.error));
    const eachMessage = async ({ partition, message }) => {
      next.set(partition, String(Number(message.offset) + 1));
      if (found.push(Number(message.value)) === wanted) {
        resolve();
      }
    };
    member.run({ autoCommit: false, eachMessage });
  });
  await member.commitOffsets([...next].map(([partition, offset]) => ({ topic, partition, offset })));
  await member.disconnect();
  return found.sort((one, other) => one - other);
}

async function main() {
  const patience = setTimeout(() => fail("not done in time"), PATIENCE);
  await write(Array.from({ length: count }, (_, number) => number));
  const first = await read(count);
  await write([count]);
  console.log(JSON.stringify([first, await read(1)]));
  clearTimeout(patience);
}

main().then(() => process.exit(0), fail);
