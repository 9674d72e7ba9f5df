//! Medians, and whether they are significant.

/// The median; for an even number the upper of the two middle values.
pub fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

pub fn quantile(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    sorted.get((last as f64 * part).round() as usize).copied().unwrap_or(f64::NAN)
}

/// The interquartile range, as a fraction of the median.
pub fn spread(values: &[f64]) -> f64 {
    (quantile(values, 0.75) - quantile(values, 0.25)) / median(values)
}

/// With a larger spread of its baseline a ratio is not significant.
const NOISY: f64 = 0.15;

pub fn verdict(ratio: f64, target: Option<f64>, baseline_spread: f64) -> String {
    match target {
        None => String::new(),
        Some(_) if baseline_spread > NOISY => "noisy".to_owned(),
        Some(target) if ratio <= target => format!("within {target}"),
        Some(target) => format!("OVER {target}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_noisy_baseline_gives_no_verdict() {
        let calm = [1.0, 1.01, 0.99, 1.0, 1.02];
        assert_eq!(median(&calm), 1.0);
        assert_eq!(verdict(1.2, Some(1.5), spread(&calm)), "within 1.5");
        assert_eq!(verdict(1.6, Some(1.5), spread(&calm)), "OVER 1.5");
        assert_eq!(verdict(1.6, Some(1.5), spread(&[1.0, 2.0, 3.0])), "noisy");
    }
}
