/** What comes from the server of a drive that goes on, patch by patch in their order. */

import { Columns, inflate } from "#film/columns.js";

/**
 * @typedef {"waiting" | "live" | "lost" | "over"} FeedState before the first patch, then, without a connection, ended
 */

const STREAM = "stream";

export class Feed {
  /** @param {(columns: Columns) => void} take @param {(state: FeedState) => void} changed */
  constructor(take, changed) {
    this.take = take;
    this.changed = changed;
    /** @type {FeedState} */
    this.state = "waiting";
    this.begun = false;
    /** Inflating takes its time: each patch waits for the one before. */
    this.last = Promise.resolve();
    this.source = new EventSource(STREAM);
    this.source.addEventListener("open", () => this.become(this.begun ? "live" : "waiting"));
    this.source.addEventListener("message", (event) => this.queue(event.data));
    this.source.addEventListener("error", () => this.become("lost"));
    this.source.addEventListener("over", () => this.finish());
    this.source.addEventListener("anew", () => location.reload());
  }

  /** @param {string} base64 */
  queue(base64) {
    const inflated = inflate(base64);
    this.last = this.last.then(async () => {
      this.take(new Columns(await inflated));
      this.begun = true;
      this.become("live");
    });
  }

  finish() {
    this.source.close();
    this.last = this.last.then(() => this.become("over"));
  }

  /** @param {FeedState} state */
  become(state) {
    if (state !== this.state && this.state !== "over") {
      this.state = state;
      this.changed(state);
    }
  }
}
