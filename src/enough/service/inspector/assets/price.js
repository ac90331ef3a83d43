// λ on a slider: its middle is the λ of training, its ends are nothing and four times as much.

const MIDDLE = 20;

/** The λ of a place; null stands for the λ of training. */
export function priceAt(place, trained) {
  if (place === MIDDLE) return null;
  return Number((trained * (place / MIDDLE) ** 2).toPrecision(2));
}

export function priceInWords(place, trained) {
  const price = priceAt(place, trained);
  if (price === null) return `${trained}, as trained`;
  return `${price}, approximate`;
}

export const caveat = (trained) =>
  trained === null
    ? "No controller with a price of its own is loaded here, so there is no λ to move."
    : `The controller was trained for λ = ${trained}. At another λ its heads are only weighed anew, which is ` +
      "approximate: they still promise what follows under the λ of training. Train one for that λ to be sure.";
