"""Medians, percentiles and bootstrap intervals: what the reports say about measured figures, in pure Python."""
import math
import random
import statistics

RESAMPLES = 2000
CONFIDENCE = 0.95


def percentile(ordered, fraction):
    """The value at `fraction` (0..1) of a sorted list, linear between neighbours; None of an empty list."""
    if not ordered:
        return None
    position = fraction * (len(ordered) - 1)
    low = math.floor(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (position - low)


def summary(values):
    """(median, lowest, highest) of a non-empty list."""
    return statistics.median(values), min(values), max(values)


def _resampled_mean(runs, random_source):
    """Mean of runs drawn with replacement, each the mean of its own samples drawn with replacement."""
    total = 0.0
    for _ in runs:
        samples = random_source.choice(runs)
        total += statistics.fmean(random_source.choices(samples, k=len(samples)))
    return total / len(runs)


def _geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def bootstrap_ratio(pairs, seed=1, resamples=RESAMPLES):
    """Ratio of two treatments with its confidence interval: (ratio, low, high), or None where a mean is not above zero.

    `pairs` is a list of (numerator runs, denominator runs), one pair per measured point; a run is a list of samples (its
    per-second rates, or one figure). The ratio is the geometric mean over the points of mean / mean. Resampling is
    hierarchical: runs first, then the samples of each, since seconds of one run resemble each other more than runs do.
    With one run per point the interval only covers the variation within it. The seed makes a report repeatable.
    """
    points = [(numerator, denominator) for numerator, denominator in pairs if numerator and denominator]
    if not points:
        return None
    means = [tuple(statistics.fmean(statistics.fmean(run) for run in runs) for runs in point) for point in points]
    if any(mean <= 0 for point in means for mean in point):
        return None
    random_source = random.Random(seed)
    ratios = []
    for _ in range(resamples):
        drawn = []
        for numerator, denominator in points:
            above = _resampled_mean(numerator, random_source)
            below = _resampled_mean(denominator, random_source)
            drawn.append(max(above, 1e-12) / max(below, 1e-12))
        ratios.append(_geometric_mean(drawn))
    ratios.sort()
    tail = (1 - CONFIDENCE) / 2
    return _geometric_mean([above / below for above, below in means]), percentile(ratios, tail), percentile(ratios, 1 - tail)


def steady(rates, window=3, tolerance=0.05):
    """Whether the last `window` per-second rates all lie within `tolerance` of their mean."""
    if len(rates) < window:
        return False
    last = rates[-window:]
    mean = statistics.fmean(last)
    return mean > 0 and all(abs(rate - mean) <= tolerance * mean for rate in last)
