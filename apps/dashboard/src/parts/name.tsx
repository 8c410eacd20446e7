/** Text from another person. Isolated, so that its writing direction does not change the text around it. */
export const Name = ({ children }: { readonly children: string }) => <bdi class="name">{children}</bdi>;

/** Longer words of others: line breaks stay. */
export const Prose = ({ children }: { readonly children: string }) => (
  <div class="prose" dir="auto">
    {children}
  </div>
);
