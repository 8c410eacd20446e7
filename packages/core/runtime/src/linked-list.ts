/**
 * Items in order, each taken out at once wherever it stands. For what comes and goes with every request, in place of a Set:
 * the tables that a Set leaves behind as it grows hold on to items that are long over, until the next full collection
 * (bench/README.md: a third of the turns a second at 50 connections).
 */
export class LinkedList<T> {
  #first: Link<T> | undefined;
  #last: Link<T> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get first(): T | undefined {
    return this.#first?.item;
  }

  /** Puts it at the end. `delete` takes the result. */
  add(item: T): Link<T> {
    const link = new Link(item, this, this.#last);
    if (this.#last) this.#last.next = link;
    else this.#first = link;
    this.#last = link;
    this.#size += 1;
    return link;
  }

  /** Puts one that is in the list at the end. */
  moveToEnd(link: Link<T>): void {
    if (link.list !== this || link === this.#last) return;
    if (link.previous) link.previous.next = link.next;
    else this.#first = link.next;
    link.next!.previous = link.previous;
    link.previous = this.#last;
    link.next = undefined;
    this.#last!.next = link;
    this.#last = link;
  }

  /** Takes the first one out. */
  shift(): T | undefined {
    const link = this.#first;
    if (link) this.delete(link);
    return link?.item;
  }

  /** Tells whether it was still there. */
  delete(link: Link<T>): boolean {
    if (link.list !== this) return false;
    if (link.previous) link.previous.next = link.next;
    else this.#first = link.next;
    if (link.next) link.next.previous = link.previous;
    else this.#last = link.previous;
    // A link that is out must hold nothing: it may be old, and would keep everything young alive that it leads to.
    link.list = link.previous = link.next = undefined;
    this.#size -= 1;
    return true;
  }

  /** All of them, in order. A copy. */
  items(): T[] {
    const items: T[] = [];
    for (let link = this.#first; link; link = link.next) items.push(link.item);
    return items;
  }
}

/**
 * A place in a list; belongs to the list. A class, because V8 makes object literals of one place in the code in the old space once
 * many of them have survived a collection. From then on each keeps what it leads to until the next full collection, a request with
 * its answer say (bench/README.md: 2.5 kB a request).
 */
export class Link<T> {
  readonly item: T;
  list: LinkedList<T> | undefined;
  previous: Link<T> | undefined;
  next: Link<T> | undefined = undefined;

  constructor(item: T, list: LinkedList<T>, previous: Link<T> | undefined) {
    this.item = item;
    this.list = list;
    this.previous = previous;
  }
}
