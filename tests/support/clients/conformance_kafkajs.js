// kafkajs in the cells of the error conformance table: `node conformance_kafkajs.js PACKAGE JSON-ORDER`; conformance.py
// says what the order and the lines mean.
"use strict";

const { Kafka, logLevel } = require(process.argv[2]);

const order = JSON.parse(process.argv[3]);
const DEADLINE = order.deadline * 1000;
const HANGS = Symbol("hangs");
const pause = (milliseconds) => new Promise((resolve) => setTimeout(() => resolve(HANGS), milliseconds));

const named = (error) => error.type ?? error.name;
const kinds = (error) => {
  const cause = error.cause && error.cause !== error ? [`caused by ${named(error.cause)}`] : [];
  return [...(error.retriable ? ["retriable"] : []), ...cause].join(", ");
};

class Cell {
  constructor(cell) {
    this.cell = cell;
    this.steps = [];
    this.kafka = new Kafka({ clientId: cell.name, brokers: [order.bootstrap], logLevel: logLevel.NOTHING });
  }

  async run() {
    await (this.cell.work === "transaction" ? this.transact() : this.join());
    process.stdout.write(`${JSON.stringify({ cell: this.cell.name, steps: this.steps })}\n`);
  }

  async step(name, work) {
    let error = "";
    let says = "";
    try {
      if ((await Promise.race([work(), pause(DEADLINE)])) === HANGS) error = "hangs";
    } catch (raised) {
      error = named(raised);
      says = kinds(raised);
    }
    this.steps.push({ step: name, ok: error === "", at: Date.now() / 1000, error, says });
    return error === "";
  }

  async transact() {
    const producer = new Transactional(this.kafka, this.cell);
    const begun = await this.step("init", () => producer.init());
    if (begun && (await this.step("transaction", () => producer.transact("first")))) {
      await this.step("close", () => producer.close());
      return;
    }
    const aborted = (begun || this.cell.abortable) && (await this.step("abort", () => producer.abort()));
    const again = await this.step("again", async () => {
      if (!begun && !aborted) await producer.init();
      await producer.transact("again");
    });
    await this.step("close", () => producer.close());
    if (again) return;
    const another = new Transactional(this.kafka, this.cell);
    await this.step("anew", async () => {
      await another.init();
      await another.transact("anew");
    });
    await this.step("close", () => another.close());
  }

  async join() {
    const consumer = new Reading(this.kafka, this.cell);
    const read = await this.step("read", () => consumer.read());
    if (read && (await this.step("commit", () => consumer.commit()))) {
      await this.step("close", () => consumer.close());
      return;
    }
    const again = await this.step("again", () => consumer.again(DEADLINE / 2));
    await this.step("close", () => consumer.close());
    if (again) return;
    const another = new Reading(this.kafka, this.cell);
    await this.step("anew", async () => {
      await another.read();
      await another.commit();
    });
    await this.step("close", () => another.close());
  }
}

// connect() asks for the producer's id; the transaction looks like an object of its own.
class Transactional {
  constructor(kafka, cell) {
    this.cell = cell;
    this.transaction = null;
    // One request in flight, as the documentation wants it.
    const settings = { transactionalId: cell.transactional_id, maxInFlightRequests: 1, idempotent: true };
    this.producer = kafka.producer(settings);
  }

  init() {
    return this.producer.connect();
  }

  async transact(value) {
    const { topic, group } = this.cell;
    this.transaction = await this.producer.transaction();
    await this.transaction.send({ topic, messages: [{ value, partition: 0 }] });
    if (this.cell.offsets) {
      const topics = [{ topic, partitions: [{ partition: 0, offset: "1" }] }];
      await this.transaction.sendOffsets({ consumerGroupId: group, topics });
    }
    await this.transaction.commit();
  }

  async abort() {
    if (this.transaction === null) throw new Error("no transaction");
    await this.transaction.abort();
  }

  close() {
    return this.producer.disconnect();
  }
}

// The library hands records over, and tells of errors that it gives up at by an event.
class Reading {
  constructor(kafka, cell) {
    this.cell = cell;
    this.next = null;
    this.running = false;
    this.consumer = kafka.consumer({ groupId: cell.group, sessionTimeout: 6000, heartbeatInterval: 2000 });
    this.crashed = new Promise((_, reject) => {
      this.consumer.on(this.consumer.events.CRASH, ({ payload }) => {
        if (payload.restart) return;
        this.running = false; // so that it is started again, as an application would
        reject(payload.error);
      });
    });
    this.crashed.catch(() => {}); // whoever reads sees it
    this.first = new Promise((resolve) => {
      this.found = resolve;
    });
  }

  async start() {
    if (this.running) return;
    await this.consumer.connect();
    await this.consumer.subscribe({ topic: this.cell.topic, fromBeginning: true });
    this.running = true;
    await this.consumer.run({
      autoCommit: false,
      eachMessage: async ({ message }) => {
        this.next = String(Number(message.offset) + 1);
        this.found();
      },
    });
  }

  async read() {
    await this.start();
    await Promise.race([this.first, this.crashed]);
  }

  commit() {
    return this.consumer.commitOffsets([{ topic: this.cell.topic, partition: 0, offset: this.next }]);
  }

  // Waits for a record, unless there is one, and commits, whatever fails meanwhile.
  async again(milliseconds) {
    const end = Date.now() + milliseconds;
    for (;;) {
      try {
        await this.start();
        if (this.next !== null) return await this.commit();
        if (Date.now() > end) return HANGS;
      } catch (error) {
        if (Date.now() > end) throw error;
      }
      await pause(200);
    }
  }

  close() {
    return this.consumer.disconnect();
  }
}

async function main() {
  const cells = order.cells.map((cell) => new Cell(cell));
  const work = async () => {
    for (let cell = cells.shift(); cell; cell = cells.shift()) await cell.run();
  };
  await Promise.all(Array.from({ length: order.at_once }, work));
  process.exit(0);
}

process.on("unhandledRejection", (error) => console.error("nobody awaited:", error));
main().catch((error) => {
  console.error(error);
  process.exit(1);
});
