// kafkajs sends in rounds: `node rounds_kafkajs.js PACKAGE JSON-START`; rounds.py says what this and all lines mean.
"use strict";

const readline = require("node:readline");
const { Kafka, logLevel } = require(process.argv[2]);

const start = JSON.parse(process.argv[3]);
const transactional = start.mode === "transactional";
const named = (error) => `${error.type ?? error.name}: ${error.message}`;

// One producer, replaced by a new one when it is dead: after a failed record, since the library never asks for another
// id, and in a transaction when it cannot abort.
class Sender {
  constructor(number) {
    this.name = `${start.name}-${number}`;
    this.producer = null;
    this.transaction = null;
    this.open = [];
  }

  async obey(order) {
    const outcome = { acked: [], failed: {}, replaced: 0 };
    const values = Array.from({ length: order.records }, (_, number) => `${this.name}-${order.round}-${number}`);
    if (transactional) {
      await this.transact(order, values, outcome);
      return outcome;
    }
    try {
      await send(await this.ready(), order, values);
      outcome.acked = values;
    } catch (error) {
      fail(outcome, values, error);
      await this.replace(outcome);
    }
    return outcome;
  }

  // A confirmed commit acknowledges its records; any error ends the transaction.
  async transact(order, values, outcome) {
    try {
      if (order.do !== "commit") {
        this.open = values;
        this.transaction = await (await this.ready()).transaction();
        await send(this.transaction, order, values);
      }
      if (order.do !== "begin" && this.open.length > 0) {
        await this.transaction.commit();
        outcome.acked = this.open;
        this.open = [];
      }
    } catch (error) {
      fail(outcome, this.open, error);
      this.open = [];
      await this.recover(outcome);
    }
  }

  async recover(outcome) {
    try {
      if (this.transaction !== null) {
        await this.transaction.abort();
      }
    } catch (error) {
      console.error(this.name, "cannot abort:", named(error));
      await this.replace(outcome);
    }
    this.transaction = null;
  }

  async replace(outcome) {
    await this.close();
    outcome.replaced += 1;
    try {
      await this.ready();
    } catch (error) {
      console.error(this.name, "has no producer:", named(error)); // the next round tries again, and fails with it
    }
  }

  async ready() {
    if (this.producer === null) {
      const brokers = start.settings["bootstrap.servers"].split(",");
      const kafka = new Kafka({ clientId: this.name, brokers, logLevel: logLevel.ERROR });
      const own = transactional ? { transactionalId: this.name } : {};
      // One request in flight, as the documentation wants it for these.
      const producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1, ...own });
      await producer.connect();
      this.producer = producer;
    }
    return this.producer;
  }

  async close() {
    const producer = this.producer;
    this.producer = null;
    if (producer !== null) {
      await producer.disconnect();
    }
  }
}

function send(through, { topic, partition }, values) {
  return through.send({ topic, messages: values.map((value) => ({ value, partition })) });
}

function fail(outcome, values, error) {
  for (const value of values) {
    outcome.failed[value] = named(error);
  }
}

async function main() {
  const senders = Array.from({ length: start.producers }, (_, number) => new Sender(number));
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const order = JSON.parse(line);
    const begun = Date.now();
    const outcomes = await Promise.all(senders.map((sender) => sender.obey(order)));
    const said = {
      round: order.round,
      acked: outcomes.flatMap(({ acked }) => acked),
      failed: Object.assign({}, ...outcomes.map(({ failed }) => failed)),
      replaced: outcomes.reduce((sum, { replaced }) => sum + replaced, 0),
      seconds: (Date.now() - begun) / 1000,
    };
    process.stdout.write(`${JSON.stringify(said)}\n`);
  }
  await Promise.all(senders.map((sender) => sender.close()));
  process.exit(0);
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
