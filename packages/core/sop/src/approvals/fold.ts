/**
 * A word as it compares with others, whatever the case it was written in. Lower case alone would tell ẞ from SS; by way of the
 * upper case both become ss. Only for keywords: look-alikes become equal too, so nobody's name is compared like this.
 */
export const fold = (word: string): string =>
  word.normalize("NFD").toLowerCase().toUpperCase().toLowerCase().normalize("NFC");
