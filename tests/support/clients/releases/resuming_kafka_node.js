// kafka-node 5, which speaks what brokers knew before they could be asked: a producer and a consumer group.
// `node resuming_kafka_node.js PACKAGE JSON`: servers, topic, group, count, login. Prints what each of two consumers has read.
"use strict";

const { ConsumerGroup, KafkaClient, Producer } = require(process.argv[2]);
const settings = JSON.parse(process.argv[3]);
const { servers, topic, group, count, login } = settings;
const sasl = login ? { sasl: { ...login, mechanism: login.mechanism.toLowerCase() } } : {};
const PATIENCE = 60000;

function fail(error) {
  console.error(error);
  process.exit(1);
}

const done = (action) => new Promise((resolve, reject) => action((error, value) => (error ? reject(error) : resolve(value))));

async function write(numbers) {
  const client = new KafkaClient({ kafkaHost: servers, ...sasl });
  const producer = new Producer(client, { requireAcks: -1, ackTimeoutMs: 10000, partitionerType: 2 });
  producer.on("error", fail);
  await new Promise((resolve) => producer.once("ready", resolve));
  for (const number of numbers) {
    await done((then) => producer.send([{ topic, messages: [String(number)] }], then));
  }
  await done((then) => producer.close(then));
}

async function read(wanted) {
  const options = { kafkaHost: servers, groupId: group, fromOffset: "earliest", autoCommit: false, protocol: ["range"] };
  const member = new ConsumerGroup({ ...options, ...sasl }, [topic]);
  const found = [];
  await new Promise((resolve) => {
    member.on("error", fail);
    member.on("message", ({ value }) => found.push(Number(value)) === wanted && resolve());
  });
  await done((then) => member.commit(true, then));
  await done((then) => member.close(false, then));
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
