/* The serial port and the pins of an Arduino Uno. */
#include <avr/io.h>
#include <stdint.h>

#define PINS 20
enum { INPUT = 0x00, OUTPUT = 0x01, PULLUP = 0x0b };

static uint8_t mode_of[PINS];
static uint8_t level_of[PINS];

/* 0 and 1 are the serial port. */
static uint8_t is_usable(uint8_t pin) { return pin >= 2 && pin < PINS; }

static void set_mode(uint8_t pin, uint8_t mode) {
  mode_of[pin] = mode;
  level_of[pin] = mode == PULLUP;
  volatile uint8_t *direction = pin < 8 ? &DDRD : pin < 14 ? &DDRB : &DDRC;
  uint8_t bit = 1 << (pin < 8 ? pin : pin < 14 ? pin - 8 : pin - 14);
  if (mode == OUTPUT) *direction |= bit;
  else *direction &= ~bit;
}

static void set_level(uint8_t pin, uint8_t level) {
  level_of[pin] = level;
  volatile uint8_t *port = pin < 8 ? &PORTD : pin < 14 ? &PORTB : &PORTC;
  uint8_t bit = 1 << (pin < 8 ? pin : pin < 14 ? pin - 8 : pin - 14);
  if (level) *port |= bit;
  else *port &= ~bit;
}

static void serial_begin(void) {
  UCSR0A = 1 << U2X0;
  UBRR0 = 16; /* 115 200 baud at 16 MHz */
  UCSR0B = (1 << RXEN0) | (1 << TXEN0);
  UCSR0C = (1 << UCSZ01) | (1 << UCSZ00);
}

static uint8_t serial_read(void) {
  while (!(UCSR0A & (1 << RXC0))) {
  }
  return UDR0;
}

static void serial_write(uint8_t byte) {
  while (!(UCSR0A & (1 << UDRE0))) {
  }
  UDR0 = byte;
}
