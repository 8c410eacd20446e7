/** How far posting may go: each life of the daemon gets its share. */
export class Release {
  #limit = 0;
  #raised = Promise.withResolvers<void>();

  /** Those in front of this place may begin. */
  upTo(limit: number): void {
    this.#limit = limit;
    this.#raised.resolve();
    this.#raised = Promise.withResolvers();
  }

  async of(place: number): Promise<void> {
    while (place >= this.#limit) await this.#raised.promise;
  }
}
