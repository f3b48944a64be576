// kafkajs as a user runs it: `node kafkajs_client.js PACKAGE SCENARIO JSON-SETTINGS`, one scenario a process.
"use strict";

const crypto = require("node:crypto");
const fs = require("node:fs");
const { Kafka, logLevel } = require(process.argv[2]);

const PATIENCE = 60000;

// The same records as records.py makes.
function record(seed, number) {
  const key = Buffer.from(`${seed}-${number}`);
  const block = crypto.createHash("sha256").update(key).digest();
  return { key, value: Buffer.concat(Array(2 + (block[0] % 31)).fill(block)) };
}

function compare(seed, acknowledged, consumed) {
  const keys = new Set(consumed.map(({ key }) => key.toString()));
  const right = ({ key, value }) => {
    const text = key.toString();
    return record(seed, Number(text.slice(text.lastIndexOf("-") + 1))).value.equals(value);
  };
  return {
    acknowledged: acknowledged.length,
    consumed: consumed.length,
    missing: acknowledged.filter((number) => !keys.has(`${seed}-${number}`)).length,
    duplicates: consumed.length - keys.size,
    wrong: consumed.filter((one) => !right(one)).length,
  };
}

const own = (seed, consumed) => consumed.filter(({ key }) => key.toString().startsWith(`${seed}-`));

// As security.py: TEST_SECURITY says how to connect.
let said = JSON.parse(process.env.TEST_SECURITY || "{}");
const content = (name) => (said[name] ? fs.readFileSync(said[name]) : undefined);
const ssl = () => said.ca && { ca: [content("ca")], cert: content("certificate"), key: content("key") };
function sasl() {
  const { mechanism, username, password, token } = said;
  if (token) return { mechanism: "oauthbearer", oauthBearerProvider: async () => ({ value: token }) };
  return mechanism && { mechanism: mechanism.toLowerCase(), username, password };
}
const client = (bootstrap, settings = {}) =>
  new Kafka({ brokers: bootstrap.split(","), logLevel: logLevel.ERROR, ssl: ssl(), sasl: sasl(), clientId: said.client_id, ...settings });
const numbers = (count) => Array.from({ length: count }, (_, number) => number);

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const byKey = ({ message }) => message.key.toString();
const byOffset = ({ partition, message }) => `${partition}:${message.offset}`;

// What the member of a group did, in order: each join, each offset that the coordinator took, each record handed over.
function remember(consumer) {
  const history = [];
  consumer.on(consumer.events.GROUP_JOIN, () => history.push(["join"]));
  consumer.on(consumer.events.COMMIT_OFFSETS, ({ payload }) => {
    for (const { partition, offset } of payload.topics.flatMap(({ partitions }) => partitions)) {
      history.push(["commit", Number(partition), Number(offset)]);
    }
  });
  return history;
}

// Reads until there are `total()` records that differ by `identity`; null as long as the number is unknown.
async function drink(kafka, topic, group, total, identity = byKey) {
  const consumer = kafka.consumer({ groupId: group, maxWaitTimeInMs: 500 });
  const history = remember(consumer);
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  const consumed = [];
  const distinct = new Set();
  let quiet = Date.now();
  await consumer.run({
    eachMessage: async (one) => {
      const { partition, message } = one;
      history.push(["record", partition, Number(message.offset)]);
      consumed.push({ key: message.key, value: message.value });
      distinct.add(identity(one));
      quiet = Date.now();
    },
  });
  for (let known = false; ; ) {
    const wanted = total();
    if (!known && wanted !== null) [known, quiet] = [true, Date.now()];
    if (known && (distinct.size >= wanted || Date.now() - quiet > PATIENCE)) break;
    await pause(50);
  }
  await consumer.disconnect();
  return { consumed, history };
}

// How many records there are to read; asked again while a leader is new: kafkajs itself gives up then.
async function length(kafka, topic) {
  const admin = kafka.admin();
  await admin.connect();
  for (;;) {
    try {
      const ends = await admin.fetchTopicOffsets(topic);
      await admin.disconnect();
      return ends.reduce((sum, { low, high }) => sum + Number(high) - Number(low), 0);
    } catch (error) {
      if (!error.retriable) throw error;
      await pause(100);
    }
  }
}

async function everything({ bootstrap, topic, group, count, replicas }) {
  const kafka = client(bootstrap);
  const admin = kafka.admin();
  await admin.connect();
  await admin.createTopics({ waitForLeaders: true, topics: [{ topic, numPartitions: 3, replicationFactor: replicas }] });
  const cluster = await admin.describeCluster();
  await admin.disconnect();
  const results = {};
  let produced = 0;
  // Not 0 first: its records are lost as long as the leader does not know the topic.
  for (const [name, acks, idempotent] of [["all", -1, false], ["1", 1, false], ["0", 0, false], ["idempotent", -1, true]]) {
    const producer = kafka.producer({ idempotent });
    await producer.connect();
    for (let first = 0; first < count; first += 100) {
      const messages = numbers(Math.min(100, count - first)).map((number) => record(name, first + number));
      await producer.send({ topic, acks, messages });
    }
    await producer.disconnect();
    produced += count;
    const total = produced;
    const { consumed } = await drink(kafka, topic, `${group}-${name}`, () => total);
    results[name] = compare(name, numbers(count), own(name, consumed));
  }
  return { nodes: cluster.brokers.map(({ nodeId, host, port }) => [nodeId, host, port]), acks: results };
}

// The offset that the last transaction has committed; another one when that does not come in time. kafkajs cannot ask for
// stable offsets (KIP-447): the broker may not have ended the transaction there yet.
async function committed(admin, topic, groupId) {
  let offset;
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const [{ partitions }] = await admin.fetchOffsets({ groupId, topics: [topic] });
    offset = Number(partitions.find(({ partition }) => partition === 0).offset);
    if (offset === "last".length) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return offset;
}

// `before` records were in the topic.
async function transactions({ bootstrap, topic, group, count, transactional_id, before = 0 }) {
  const kafka = client(bootstrap);
  const producer = kafka.producer({ transactionalId: transactional_id, idempotent: true, maxInFlightRequests: 1 });
  await producer.connect();
  for (const seed of ["first", "aborted", "last"]) {
    const transaction = await producer.transaction();
    await transaction.send({ topic, messages: numbers(count).map((number) => record(seed, number)) });
    const offset = String(seed.length);
    await transaction.sendOffsets({ consumerGroupId: `${group}-offsets`, topics: [{ topic, partitions: [{ partition: 0, offset }] }] });
    await (seed === "aborted" ? transaction.abort() : transaction.commit());
  }
  await producer.disconnect();
  const admin = kafka.admin();
  await admin.connect();
  const result = { committed: await committed(admin, topic, `${group}-offsets`) };
  await admin.disconnect();
  const { consumed } = await drink(kafka, topic, group, () => before + 2 * count);
  for (const seed of ["first", "aborted", "last"]) result[seed] = compare(seed, numbers(count), own(seed, consumed));
  return result;
}

async function follow({ bootstrap, topic, group, seconds }) {
  const kafka = client(bootstrap);
  // When leaders move, its producer loses and doubles records, with Kafka itself too, and its experimental idempotence
  // gets sequence numbers wrong: so what counts is that everything in the log is read.
  const producer = kafka.producer({ maxInFlightRequests: 1, retry: { retries: 50, maxRetryTime: 1000 } });
  await producer.connect();
  const acknowledged = [];
  const failed = [];
  let produced = 0;
  let total = null;
  const producing = (async () => {
    const end = Date.now() + 1000 * seconds;
    while (Date.now() < end) {
      const batch = numbers(20).map((number) => produced + number);
      produced += batch.length;
      try {
        await producer.send({ topic, acks: -1, messages: batch.map((number) => record("follow", number)) });
        acknowledged.push(...batch);
      } catch (error) {
        failed.push(String(error));
      }
    }
    await producer.disconnect();
    total = await length(kafka, topic);
  })();
  const [{ consumed, history }] = await Promise.all([drink(kafka, topic, group, () => total, byOffset), producing]);
  return { produced, failed: failed.slice(0, 3), history, ...compare("follow", acknowledged, consumed) };
}

// Reports whether it was accepted or, of a refusal, the error's kind and what it says.
async function refusal({ bootstrap }) {
  const admin = client(bootstrap, { logLevel: logLevel.NOTHING, retry: { retries: 0 } }).admin();
  try {
    await admin.connect();
    return { connected: await admin.listTopics() };
  } catch (error) {
    return { kind: error.name, says: error.message };
  } finally {
    await admin.disconnect();
  }
}

// Produces, reads in a group, and does transactions with another group.
async function work({ bootstrap, topic, group, count, ...more }) {
  const kafka = client(bootstrap);
  const producer = kafka.producer();
  await producer.connect();
  await producer.send({ topic, messages: numbers(count).map((number) => record("plain", number)) });
  await producer.disconnect();
  const { consumed } = await drink(kafka, topic, `${group}-plain`, () => count);
  const plain = compare("plain", numbers(count), consumed);
  return { plain, ...(await transactions({ bootstrap, topic, group, count, ...more, before: count })) };
}

// As logins.py.
async function logins({ accepted, refused }) {
  const results = { accepted: {}, refused: {} };
  for (const [orders, call, into] of [[accepted, work, results.accepted], [refused, refusal, results.refused]]) {
    for (const [name, { security, ...settings }] of Object.entries(orders)) {
      said = security;
      into[name] = await call(settings);
    }
  }
  return results;
}

const [scenario, settings] = [process.argv[3], JSON.parse(process.argv[4])];
({ everything, transactions, follow, logins })[scenario](settings).then(
  (result) => console.log(JSON.stringify(result)),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
