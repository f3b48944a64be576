// node-rdkafka: librdkafka in node, a producer, and members of a group.
// `node resuming_node_rdkafka.js PACKAGE JSON`: servers, topic, group, count, login. Prints what each of two consumers has read.
"use strict";

const Kafka = require(process.argv[2]);
const { servers, topic, group, count, login } = JSON.parse(process.argv[3]);
const PATIENCE = 60000;
const security = login
  ? {
      "security.protocol": "sasl_plaintext",
      "sasl.mechanisms": login.mechanism,
      "sasl.username": login.username,
      "sasl.password": login.password,
    }
  : {};
const common = { "metadata.broker.list": servers, ...security };

function fail(error) {
  console.error(error);
  process.exit(1);
}

function connected(client) {
  client.on("event.error", (error) => console.error(error)); // it tries again; what it says is of use where it never can
  return new Promise((resolve, reject) => client.connect({}, (error) => (error ? reject(error) : resolve())));
}

function ended(client) {
  return new Promise((resolve) => client.disconnect(resolve));
}

async function write(numbers) {
  const producer = new Kafka.Producer({ ...common, dr_cb: true }, { acks: -1 });
  await connected(producer);
  const acknowledged = new Promise((resolve, reject) => {
    let left = numbers.length;
    producer.on("delivery-report", (error) => (error ? reject(error) : --left || resolve()));
  });
  producer.setPollInterval(50);
  numbers.forEach((number) => producer.produce(topic, null, Buffer.from(`${number}`)));
  await acknowledged;
  await ended(producer);
}

async function read(wanted) {
  const own = { "group.id": group, "enable.auto.commit": false };
  const member = new Kafka.KafkaConsumer({ ...common, ...own }, { "auto.offset.reset": "earliest" });
  await connected(member);
  const found = [];
  await new Promise((resolve) => {
    member.on("data", ({ value }) => {
      if (found.push(Number(value)) === wanted) {
        resolve();
      }
    });
    member.subscribe([topic]);
    member.consume();
  });
  member.commitSync();
  await ended(member);
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
