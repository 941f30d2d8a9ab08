// Points of a plane whose distances are, as far as a plane allows, those of vectors we know by their products alone.

// `gram` holds the products of all with all. Gives points [[x, y], …] and the share of the spread that they show.
export function plane(gram) {
  const centred = centre(gram), total = centred.reduce((sum, row, place) => sum + row[place], 0);
  if (total < 1e-9) return { points: gram.map(() => [0, 0]), share: 1 };
  const first = strongest(centred), second = strongest(without(centred, first));
  const points = gram.map((_, place) => [first, second].map(({ value, vector }) => vector[place] * Math.sqrt(value)));
  return { points, share: Math.min(1, (first.value + second.value) / total) };
}

// The same points turned, or mirrored and turned, to lie as near as they can to others: an axis has no sign of its own.
export function aligned(points, others) {
  const candidates = [points, points.map(([x, y]) => [x, -y])].map((some) => {
    let along = 0, across = 0;
    some.forEach(([x, y], place) => {
      const [u, v] = others[place];
      along += x * u + y * v;
      across += x * v - y * u;
    });
    return { some, angle: Math.atan2(across, along), fit: Math.hypot(along, across) };
  });
  const { some, angle } = candidates[1].fit > candidates[0].fit ? candidates[1] : candidates[0];
  const cos = Math.cos(angle), sin = Math.sin(angle);
  return some.map(([x, y]) => [x * cos - y * sin, x * sin + y * cos]);
}

function centre(gram) {
  const n = gram.length, means = gram.map((row) => row.reduce((sum, value) => sum + value, 0) / n);
  const mean = means.reduce((sum, value) => sum + value, 0) / n;
  return gram.map((row, i) => row.map((value, j) => value - means[i] - means[j] + mean));
}

// The largest eigenvalue and its vector, by power iteration.
function strongest(matrix) {
  let vector = matrix.map((_, place) => Math.cos(1 + 2.3 * place)), value = 0;
  for (let turn = 0; turn < 500; turn++) {
    const next = matrix.map((row) => row.reduce((sum, entry, place) => sum + entry * vector[place], 0));
    const length = Math.hypot(...next);
    if (length < 1e-12) return { value: 0, vector: vector.map(() => 0) };
    const moved = Math.abs(length - value);
    vector = next.map((entry) => entry / length);
    value = length;
    if (moved < 1e-10 * length && turn > 20) break;
  }
  return { value, vector };
}

const without = (matrix, { value, vector }) =>
  matrix.map((row, i) => row.map((entry, j) => entry - value * vector[i] * vector[j]));
